// workspace/covers.h
// Protected files inside the workspace are shown empty (RT-02), but for those git tracks (their
// bytes are in the objects anyway, E-03) and those the user asked to see.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/git_places.h"

namespace bawn::workspace {

// Which of `candidates` (relative paths) are to be covered, sorted. An index that cannot be read
// covers: its name and the reason go to `notes`.
Result<std::vector<std::string>> FilesToCover(const OpenRequest& request,
                                              std::vector<std::string> candidates,
                                              const std::vector<Place>& places,
                                              std::vector<std::string>* notes);

}  // namespace bawn::workspace
