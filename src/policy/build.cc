#include "policy/build.h"

#include "base/text.h"
#include "policy/paths.h"

namespace bawn::policy {

const Origin kBuiltIn = {"built-in", 0};
const Origin kCommandLine = {"command line", 0};

const plan::PathFact& Build::Fact(std::string_view path) const {
  static const plan::PathFact kMissing;
  auto found = host.paths.find(std::string(path));
  return found == host.paths.end() ? kMissing : found->second;
}

bool Build::IsVisible(std::string_view path) const {
  for (const std::string& tree : visible) {
    if (IsAtOrBelow(path, tree)) return true;
  }
  return false;
}

bool Build::ShowsHost(std::string_view path) const {
  for (const std::string& tree : visible) {
    if (tree != home && IsAtOrBelow(path, tree)) return true;
  }
  return false;
}

void Build::Note(plan::Verdict verdict, std::string subject, std::string rule_id,
                 const Origin& origin, std::string_view reason, std::string remedy) {
  out.decisions.push_back({.verdict = verdict,
                           .subject = std::move(subject),
                           .rule_id = std::move(rule_id),
                           .file = origin.file,
                           .line = origin.line,
                           .reason = std::string(reason),
                           .remedy = std::move(remedy)});
}

void Build::AddOnce(plan::Op op) {
  for (const plan::Op& other : out.plan.ops) {
    if (other.target == op.target) return;
  }
  out.plan.ops.push_back(std::move(op));
}

void Build::Rule(std::string path, plan::PathRights rights) {
  out.plan.landlock.push_back({std::move(path), rights});
}

Result<std::vector<Asked>> AskedPaths(const Policy& policy, const JobRequest& request,
                                      std::string_view home, std::string_view key) {
  const std::vector<PathRule>& rules = key == "ro"     ? policy.ro
                                       : key == "rw"   ? policy.rw
                                       : key == "hide" ? policy.hide
                                                       : policy.show;
  const std::vector<std::string>& options = key == "ro"     ? request.ro
                                            : key == "rw"   ? request.rw
                                            : key == "hide" ? request.hide
                                                            : request.show;
  std::vector<Asked> asked;
  for (const PathRule& rule : rules) asked.push_back({rule.path, rule.origin, key});
  for (const std::string& path : options) asked.push_back({path, kCommandLine, key});
  for (Asked& one : asked) {
    Result<std::string> clean = CleanPath(one.path, home);
    if (!clean) return std::unexpected(WithContext(clean.error(), Where(one)));
    one.path = std::move(*clean);
  }
  return asked;
}

std::string Where(const Asked& asked) {
  std::string shown = EscapeName(asked.path);
  if (asked.origin.file == kCommandLine.file) return "--" + std::string(asked.key) + " " + shown;
  return asked.origin.file + ":" + std::to_string(asked.origin.line) + ": view." +
         std::string(asked.key) + " " + shown;
}

std::unexpected<Error> Refuse(const std::string& where, std::string_view reason, std::string hint,
                              std::string rule) {
  return Fail(ErrorCode::kPermissionDenied, where + ": " + std::string(reason), std::move(hint),
              std::move(rule));
}

plan::Source SourceOf(std::string_view path, const plan::PathFact& fact) {
  return {.path = std::string(path), .dev = fact.dev, .ino = fact.ino};
}

plan::Op BindOp(std::string_view path, const plan::PathFact& fact, bool read_only) {
  plan::Op op;
  op.kind = plan::OpKind::kBind;
  op.target = path;
  op.lowers.push_back(SourceOf(path, fact));
  op.read_only = read_only;
  // A clone without its submounts is refused below a user namespace when there are any.
  op.recursive = fact.kind == plan::PathKind::kDirectory;
  return op;
}

plan::Op OverlayOp(std::string_view path, const plan::PathFact& fact) {
  plan::Op op;
  op.kind = plan::OpKind::kOverlay;
  op.target = path;
  op.lowers.push_back(SourceOf(path, fact));
  return op;
}

plan::Op FileOp(std::string path, std::string content, uint32_t mode) {
  plan::Op op;
  op.kind = plan::OpKind::kFile;
  op.target = std::move(path);
  op.content = std::move(content);
  op.mode = mode;
  return op;
}

plan::Op SymlinkOp(std::string path, std::string target) {
  plan::Op op;
  op.kind = plan::OpKind::kSymlink;
  op.target = std::move(path);
  op.content = std::move(target);
  return op;
}

plan::Op TmpfsOp(std::string path, uint64_t size_bytes, uint64_t inodes, uint32_t mode) {
  plan::Op op;
  op.kind = plan::OpKind::kTmpfs;
  op.target = std::move(path);
  op.size_bytes = size_bytes;
  op.inodes = inodes;
  op.mode = mode;
  return op;
}

plan::Op EmptyCoverOp(std::string_view path, const plan::PathFact& fact) {
  if (fact.kind == plan::PathKind::kDirectory)
    return TmpfsOp(std::string(path), 64 << 10, 64, 0555);
  // Reads as empty; writing to it changes nothing.
  plan::Op op = BindOp("/dev/null", {}, true);
  op.target = path;
  op.devices = true;
  return op;
}

}  // namespace bawn::policy
