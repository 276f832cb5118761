// policy/secrets.h
// Secrets: values that the job reads from files of its own, never from its environment or command
// line (--secret NAME, profile key `secrets`).
#pragma once

#include <cstddef>
#include <string_view>

namespace bawn::policy {

inline constexpr std::string_view kSecretsDir = "/.bawn/secrets";  // in the view; BAWN_SECRETS_DIR
inline constexpr size_t kSecretBytesMax = 64 << 10;

// Letters, digits, '_', '-', '.', not '.' first, at most 64 bytes: a file name as it stands.
bool IsSecretName(std::string_view name);

}  // namespace bawn::policy
