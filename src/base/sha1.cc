// The low-level entry points, for the reason given in sha256.cc.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha1.h"

#include <openssl/sha.h>

#include <new>

namespace bawn {
namespace {
static_assert(sizeof(SHA_CTX) <= 128);
static_assert(Sha1::kBytes == SHA_DIGEST_LENGTH);
SHA_CTX* Context(std::array<unsigned char, 128>& state) {
  return std::launder(reinterpret_cast<SHA_CTX*>(state.data()));
}
}  // namespace

Sha1::Sha1() : state_{} {
  ::new (state_.data()) SHA_CTX;
  SHA1_Init(Context(state_));
}

void Sha1::Update(std::string_view bytes) {
  SHA1_Update(Context(state_), bytes.data(), bytes.size());
}

std::string Sha1::Digest() {
  std::string digest(kBytes, '\0');
  SHA1_Final(reinterpret_cast<unsigned char*>(digest.data()), Context(state_));
  return digest;
}

}  // namespace bawn
