// The low-level entry points are used on purpose: EVP would pull OpenSSL's provider machinery into
// the static programs and cost start-up time.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>

#include <new>

#include "base/text.h"

namespace bawn {
namespace {
static_assert(sizeof(SHA256_CTX) <= 128);
SHA256_CTX* Context(std::array<unsigned char, 128>& state) {
  return std::launder(reinterpret_cast<SHA256_CTX*>(state.data()));
}
}  // namespace

Sha256::Sha256() : state_{} {
  ::new (state_.data()) SHA256_CTX;
  SHA256_Init(Context(state_));
}

void Sha256::Update(std::string_view bytes) {
  SHA256_Update(Context(state_), bytes.data(), bytes.size());
}

std::string Sha256::Hex() {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest = {};
  SHA256_Final(digest.data(), Context(state_));
  return ToHex(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Hex();
}

}  // namespace bawn
