// workspace/remembered.h
// What a partial publish or apply has already carried out of a sandbox (DESIGN 6, "After"): those
// changes are no longer pending as long as the layer still holds what was carried, and the objects
// that apply wrote in the user's tree have not diverged as long as they are as apply left them.
// A file of its own beside meta.json (it may be large): <state>/sb/<id>/remembered.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "sys/files.h"
#include "workspace/state.h"

namespace bawn::workspace {

struct Change;

struct Remembered {
  struct Carried {
    std::string fingerprint;  // Fingerprint() of the change
    uint64_t ino = 0;         // of the object in the layer; a payload cannot set its ctime
    int64_t ctime_ns = 0;
  };
  struct Left {
    uint64_t ino = 0;  // of the object (or directory) in the user's tree after apply
    int64_t ctime_ns = 0;
  };
  std::unordered_map<std::string, Carried> carried;
  std::unordered_map<std::string, Left> left;

  // Is the object now at `path` of the user's tree the one that apply left there?
  bool AsLeft(const std::string& path, const sys::FileStat& now) const;
};

// Everything that a publish or apply carries of one change.
std::string Fingerprint(const Change& change);

Result<Remembered> ReadRemembered(const SandboxDir& dir);  // empty when there is none
Result<> WriteRemembered(const SandboxDir& dir, const Remembered& remembered);

}  // namespace bawn::workspace
