// policy/read/yaml.h
// YAML text -> a small tree, by yaml-cpp's event handler. A subset (DESIGN 8, "Profile"): one
// document; no anchors, aliases, tags, merge keys or directives; keys are plain names, each once.
// yaml-cpp's exceptions end here. Scalars stay text: nothing becomes a number or a boolean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::policy::read {

inline constexpr size_t kTextBytesMax = 64 << 10;
inline constexpr size_t kDepthMax = 8;
inline constexpr size_t kNodesMax = 16 << 10;

struct Diagnostic {
  uint32_t line = 0;  // from 1
  std::string message;
};
using Diagnostics = std::vector<Diagnostic>;

enum class NodeKind : uint8_t { kNull, kScalar, kSequence, kMap };

struct Node {
  NodeKind kind = NodeKind::kNull;
  uint32_t line = 1;
  std::string scalar = {};
  std::vector<Node> items =
      {};                // of a list or, with their keys, of a map; in the order of the text
  std::string key = {};  // of a map's item
  uint32_t key_line = 0;

  const Node* Find(std::string_view wanted) const;
};

// An empty text is a null node. One diagnostic: the first fault.
std::expected<Node, Diagnostic> ReadYaml(std::string_view text);

}  // namespace bawn::policy::read
