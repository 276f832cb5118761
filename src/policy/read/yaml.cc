#include "policy/read/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "base/text.h"

namespace bawn::policy::read {
namespace {

constexpr size_t kKeyBytesMax = 256;
constexpr size_t kKeysMax = 1024;  // of one map: each is compared with those before it

// Builds the tree. The first fault is kept and everything after it ignored: the text is bounded, so
// the parser may run to its end.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(uint32_t lines) : lines_(lines) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) Fault(mark, "a second document: a profile is one document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (Plain(mark, "?", anchor)) Place({.kind = NodeKind::kNull, .line = LineOf(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Fault(mark, "an alias ('*'): write the value again");
  }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    Fault(mark, "an anchor ('&'): write the value again where it is needed");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!Plain(mark, tag, anchor)) return;
    if (AwaitsKey()) return TakeKey(mark, value);
    Place({.kind = NodeKind::kScalar, .line = LineOf(mark), .scalar = value});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    if (Plain(mark, tag, anchor)) Open(mark, NodeKind::kSequence);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    if (Plain(mark, tag, anchor)) Open(mark, NodeKind::kMap);
  }
  void OnMapEnd() override { Close(); }

  void Fault(const YAML::Mark& mark, std::string message) {
    if (!fault_) fault_ = Diagnostic{LineOf(mark), std::move(message)};
  }
  const std::optional<Diagnostic>& fault() const { return fault_; }
  Node Take() { return std::move(root_); }

 private:
  // A collection that is open, and in a map the key that waits for its value.
  struct Frame {
    Node node;
    std::string key;
    uint32_t key_line = 0;  // 0: none waits
  };

  bool AwaitsKey() const {
    return !open_.empty() && open_.back().node.kind == NodeKind::kMap && open_.back().key_line == 0;
  }

  bool Plain(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) Fault(mark, "an anchor ('&'): write the value again where it is needed");
    // yaml-cpp gives "?" to what is plain and "!" to what is quoted.
    if (!tag.empty() && tag != "?" && tag != "!") Fault(mark, "a tag ('!'): values have no types");
    if (++nodes_ > kNodesMax) Fault(mark, "more than 16384 values");
    return !fault_;
  }

  void TakeKey(const YAML::Mark& mark, const std::string& key) {
    if (key == "<<") return Fault(mark, "a merge key ('<<'): use `extends`");
    if (key.empty() || key.size() > kKeyBytesMax) {
      return Fault(mark, "a key is a name of 1 to 256 bytes");
    }
    if (open_.back().node.items.size() >= kKeysMax) return Fault(mark, "more than 1024 keys");
    if (const Node* first = open_.back().node.Find(key)) {
      return Fault(mark, "'" + EscapeName(key) + "' stands here twice, first in line " +
                             std::to_string(first->key_line));
    }
    open_.back().key = key;
    open_.back().key_line = LineOf(mark);
  }

  void Open(const YAML::Mark& mark, NodeKind kind) {
    if (AwaitsKey()) return Fault(mark, "a key is a plain name");
    if (open_.size() >= kDepthMax) return Fault(mark, "nested deeper than 8");
    Frame frame;
    frame.node.kind = kind;
    frame.node.line = LineOf(mark);
    open_.push_back(std::move(frame));
  }

  void Close() {
    if (fault_ || open_.empty()) return;
    Node node = std::move(open_.back().node);
    open_.pop_back();
    Place(std::move(node));
  }

  void Place(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = open_.back();
    if (frame.node.kind == NodeKind::kMap) {
      if (frame.key_line == 0) {  // a null key
        if (!fault_) fault_ = Diagnostic{node.line, "a key is a plain name"};
        return;
      }
      node.key = std::move(frame.key);
      node.key_line = std::exchange(frame.key_line, 0);
    }
    frame.node.items.push_back(std::move(node));
  }

  // Within the text: what is missing at its end is marked behind it.
  uint32_t LineOf(const YAML::Mark& mark) const {
    return mark.line < 0 ? 1 : std::min(static_cast<uint32_t>(mark.line) + 1, lines_);
  }

  uint32_t lines_;
  Node root_;
  std::vector<Frame> open_;
  std::optional<Diagnostic> fault_;
  size_t documents_ = 0;
  size_t nodes_ = 0;
};

// What yaml-cpp would take and a profile never needs: other encodings, control bytes, directives.
std::optional<Diagnostic> CheckBytes(std::string_view text) {
  if (text.size() > kTextBytesMax) return Diagnostic{1, "over 64 KiB: a profile is short"};
  if (!IsValidUtf8(text)) return Diagnostic{1, "not UTF-8"};
  uint32_t line = 1;
  bool line_start = true;
  for (char c : text) {
    auto byte = static_cast<uint8_t>(c);
    if ((byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f) {
      return Diagnostic{line, "a control byte"};
    }
    if (line_start && c == '%') return Diagnostic{line, "a directive ('%'): none is needed"};
    line_start = c == '\n';
    if (line_start) ++line;
  }
  return std::nullopt;
}

}  // namespace

const Node* Node::Find(std::string_view wanted) const {
  for (const Node& item : items) {
    if (kind == NodeKind::kMap && item.key == wanted) return &item;
  }
  return nullptr;
}

std::expected<Node, Diagnostic> ReadYaml(std::string_view text) {
  if (std::optional<Diagnostic> fault = CheckBytes(text)) return std::unexpected(*fault);
  TreeBuilder builder(static_cast<uint32_t>(std::ranges::count(text, '\n') + 1));
  // The boundary: no exception of the library leaves this function.
  try {
    // yaml-cpp 0.7 takes an unterminated quote for ended when the text ends in a newline. With a
    // comment as the last line it reports it, and nothing else changes.
    std::istringstream stream(std::string(text) + "\n#");
    YAML::Parser parser(stream);
    while (!builder.fault() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    builder.Fault(error.mark, "not YAML: " + EscapeName(error.msg));
  } catch (const std::exception& error) {
    builder.Fault(YAML::Mark::null_mark(), std::string("not YAML: ") + EscapeName(error.what()));
  }
  if (builder.fault()) return std::unexpected(*builder.fault());
  return builder.Take();
}

}  // namespace bawn::policy::read
