// base/sha256.h
// SHA-256 (FIPS 180-4) by OpenSSL's block function; streaming and one-shot.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bawn {

class Sha256 {
 public:
  Sha256();
  void Update(std::string_view bytes);
  std::string Hex();  // ends the computation: 64 lower-case hex digits

 private:
  alignas(8) std::array<unsigned char, 128> state_;  // an SHA256_CTX (112 bytes)
};

std::string Sha256Hex(std::string_view bytes);

}  // namespace bawn
