// sys/mount_proofs.h
// Attempts that a sealed mount tree must refuse, made by a process that still holds every
// capability in its own namespaces: what they answer is the evidence of the layer "mounts"
// (mount_namespaces(7), "Restrictions on mount namespaces").
#pragma once

#include <string_view>

#include "base/result.h"

namespace bawn::sys {

// Each gives the errno of the attempt; 0 means that it *succeeded*, which is the failure.
int TryUmount(std::string_view path);        // locked: EINVAL
int TryMakeWritable(std::string_view path);  // locked read-only flag: EPERM
Result<bool> IsReadOnlyMount(std::string_view path);

}  // namespace bawn::sys
