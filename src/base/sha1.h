// base/sha1.h
// SHA-1 (FIPS 180-4) by OpenSSL's block function, for the checksums of git's own files, which guard
// against damage. NOT for names of objects: those need git's collision detection (git/repo.h).
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace bawn {

class Sha1 {
 public:
  static constexpr size_t kBytes = 20;
  Sha1();
  void Update(std::string_view bytes);
  std::string Digest();  // ends the computation: 20 raw bytes

 private:
  alignas(8) std::array<unsigned char, 128> state_;  // an SHA_CTX (96 bytes)
};

}  // namespace bawn
