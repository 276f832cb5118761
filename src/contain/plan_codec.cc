#include "contain/plan_codec.h"

#include "wire/codec.h"
#include "wire/control.h"

namespace bawn::contain {
namespace {

using plan::LandlockRule;
using plan::Op;
using plan::OpKind;
using plan::Source;

// First word of each value: programs of different builds must not read each other's bytes.
constexpr uint32_t kPlanFormat = 0x334e4c50;     // "PLN3"
constexpr uint32_t kJobSpecFormat = 0x31424f4a;  // "JOB1"
constexpr size_t kPathBytesMax = 4095;           // PATH_MAX without its NUL
constexpr size_t kHostnameBytesMax = 64;         // sethostname(2)

// ---- checks: the shapes that plan/plan.h promises

bool IsPlanPath(std::string_view path) {
  if (path.empty() || path[0] != '/' || path.size() > kPathBytesMax) return false;
  if (path.find('\0') != path.npos) return false;
  if (path == "/") return true;
  size_t at = 1;
  while (true) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string_view part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == path.size()) return true;
    at = end + 1;
  }
}

bool IsSource(const Source& source) {
  return source.fd_slot >= 0 ? source.path.empty()
                             : source.fd_slot == -1 && IsPlanPath(source.path);
}

bool IsAbsent(const Source& source) { return source.path.empty() && source.fd_slot == -1; }

Result<> CheckOp(const Op& op) {
  auto refuse = [&](const char* rule) {
    return Fail(ErrorCode::kInvalidArgument, "plan: op on '" + op.target + "' " + rule);
  };
  if (!IsPlanPath(op.target)) return refuse("has a target that is no plain absolute path");
  for (const Source& lower : op.lowers) {
    if (!IsSource(lower)) return refuse("has a lower that is neither a path nor a descriptor");
  }
  if (op.kind == OpKind::kBind && op.lowers.size() != 1)
    return refuse("binds not exactly one source");
  if (op.kind == OpKind::kOverlay) {
    if (op.lowers.empty()) return refuse("is an overlay without a lower");
    bool upper = IsSource(op.upper), work = IsSource(op.work);
    bool neither = IsAbsent(op.upper) && IsAbsent(op.work);
    bool one_slot = op.upper.fd_slot >= 0 && IsAbsent(op.work);  // holds both
    if (!neither && !one_slot && !(upper && work))
      return refuse("needs both upper and work, or neither");
    if (!neither && op.size_bytes != 0) return refuse("has an upper, and one in memory");
    if (op.size_bytes == 0 && !op.content.empty())
      return refuse("hides something, but not in memory");
    if (!op.content.empty() && !IsPlanPath("/" + op.content)) return refuse("hides no plain name");
  } else if (!IsAbsent(op.upper) || !IsAbsent(op.work)) {
    return refuse("is no overlay and has an upper");
  }
  if (op.kind == OpKind::kSymlink && (op.content.empty() || op.content.size() > kPathBytesMax ||
                                      op.content.find('\0') != std::string::npos)) {
    return refuse("has no usable link text");
  }
  if (op.mode > 07777) return refuse("has a mode above 07777");
  return {};
}

Result<> CheckPlan(const plan::Plan& plan) {
  auto refuse = [](std::string what) {
    return Fail(ErrorCode::kInvalidArgument, "plan: " + std::move(what));
  };
  if (plan.hostname.empty() || plan.hostname.size() > kHostnameBytesMax) {
    return refuse("host name of 0 or more than 64 bytes");
  }
  if (plan.uid == 0 || plan.gid == 0 || plan.uid == UINT32_MAX || plan.gid == UINT32_MAX) {
    return refuse("inner id 0 or -1 is never mapped (RT-22)");
  }
  for (const Op& op : plan.ops) BAWN_CHECK_OK(CheckOp(op));
  for (const LandlockRule& rule : plan.landlock) {
    if (!IsPlanPath(rule.path)) return refuse("Landlock rule on no plain absolute path");
  }
  return {};
}

Result<> CheckJobSpec(const plan::JobSpec& spec) {
  auto refuse = [](const char* what) {
    return Fail(ErrorCode::kInvalidArgument, std::string("job: ") + what);
  };
  if (spec.argv.empty() || spec.argv[0].empty()) return refuse("no program");
  for (const auto* list : {&spec.argv, &spec.env}) {
    for (const std::string& text : *list) {
      if (text.find('\0') != text.npos)
        return refuse("NUL byte in an argument or in the environment");
    }
  }
  if (!IsPlanPath(spec.cwd)) return refuse("working directory is no plain absolute path");
  if (spec.umask > 0777) return refuse("umask above 0777");
  return {};
}

// ---- shapes, in one order for both directions

struct Put {
  wire::Writer& w;
  void operator()(const Source& s) {
    w.Bytes(s.path), w.Uint(s.dev), w.Uint(s.ino), w.Uint(static_cast<uint32_t>(s.fd_slot));
  }
  void operator()(const Op& op) {
    w.Enum(op.kind), w.Bytes(op.target);
    w.Uint(static_cast<uint32_t>(op.lowers.size()));
    for (const Source& lower : op.lowers) (*this)(lower);
    (*this)(op.upper), (*this)(op.work), w.Bytes(op.content), w.Uint(op.mode);
    w.Uint(static_cast<uint64_t>(op.mtime_ns)), w.Uint(op.size_bytes), w.Uint(op.inodes);
    w.Bool(op.read_only), w.Bool(op.devices), w.Bool(op.recursive), w.Bool(op.optional);
  }
  void operator()(const plan::ProcessLimits& l) {
    w.Uint(l.core_bytes), w.Uint(l.open_files), w.Uint(l.processes), w.Uint(l.address_space_bytes);
    w.Uint(l.file_bytes), w.Uint(l.user_namespaces_max);
    w.Uint(l.inotify_watches_max), w.Uint(l.inotify_instances_max);
  }
  void operator()(const plan::TreeLimits& t) {
    w.Uint(t.memory_bytes), w.Uint(t.pids), w.Uint(t.cpus_milli);
  }
  void operator()(const plan::CanaryTargets& c) {
    w.Bytes(c.outside_file), w.Bytes(c.pathname_socket), w.Bytes(c.abstract_socket);
    w.Uint(c.host_pid);
  }
};

constexpr size_t kSourceBytesMin = 4 + 8 + 8 + 4;
constexpr size_t kOpBytesMin = 1 + 4 + 4 + 2 * kSourceBytesMin + 4 + 4 + 8 + 8 + 8 + 4;

struct Get {
  wire::Reader& r;
  Source GetSource() {
    Source s;
    s.path = r.Bytes(kPathBytesMax), s.dev = r.Uint<uint64_t>(), s.ino = r.Uint<uint64_t>();
    s.fd_slot = static_cast<int32_t>(r.Uint<uint32_t>());
    return s;
  }
  Op GetOp() {
    Op op;
    op.kind = r.Enum(OpKind::kLast), op.target = r.Bytes(kPathBytesMax);
    op.lowers.resize(r.Count(kSourceBytesMin));
    for (Source& lower : op.lowers) lower = GetSource();
    op.upper = GetSource(), op.work = GetSource(), op.content = r.Bytes();
    op.mode = r.Uint<uint32_t>(), op.mtime_ns = static_cast<int64_t>(r.Uint<uint64_t>());
    op.size_bytes = r.Uint<uint64_t>(), op.inodes = r.Uint<uint64_t>();
    op.read_only = r.Bool(), op.devices = r.Bool(), op.recursive = r.Bool(), op.optional = r.Bool();
    return op;
  }
  plan::ProcessLimits GetLimits() {
    plan::ProcessLimits l;
    for (uint64_t* value :
         {&l.core_bytes, &l.open_files, &l.processes, &l.address_space_bytes, &l.file_bytes,
          &l.user_namespaces_max, &l.inotify_watches_max, &l.inotify_instances_max}) {
      *value = r.Uint<uint64_t>();
    }
    return l;
  }
  plan::CanaryTargets GetCanaries() {
    plan::CanaryTargets c;
    c.outside_file = r.Bytes(kPathBytesMax), c.pathname_socket = r.Bytes(kPathBytesMax);
    c.abstract_socket = r.Bytes(kPathBytesMax), c.host_pid = r.Uint<uint32_t>();
    return c;
  }
};

}  // namespace

std::string EncodePlan(const plan::Plan& plan) {
  wire::Writer w;
  Put put{w};
  w.Uint(kPlanFormat), w.Bytes(plan.sandbox_id), w.Bytes(plan.hostname), w.Enum(plan.level);
  w.Uint(plan.uid), w.Uint(plan.gid), w.Bool(plan.ids_from_range);
  w.Uint(static_cast<uint32_t>(plan.ops.size()));
  for (const Op& op : plan.ops) put(op);
  w.Uint(static_cast<uint32_t>(plan.landlock.size()));
  for (const LandlockRule& rule : plan.landlock) w.Bytes(rule.path), w.Enum(rule.rights);
  w.Strings(plan.syscall_profiles), put(plan.limits), put(plan.tree), put(plan.canaries),
      w.Bool(plan.direct_writes), w.Bool(plan.job_domains);
  return w.Take();
}

Result<plan::Plan> DecodePlan(std::string_view bytes) {
  if (bytes.size() > wire::kPlanBytesMax) {
    return Fail(ErrorCode::kResourceExhausted, "plan of more than 4 MiB",
                "show fewer paths: the view has too many entries");
  }
  wire::Reader r(bytes);
  Get get{r};
  if (r.Uint<uint32_t>() != kPlanFormat)
    return Fail(ErrorCode::kInternal, "not a plan of this build");
  plan::Plan plan;
  plan.sandbox_id = r.Bytes(kPathBytesMax), plan.hostname = r.Bytes(kHostnameBytesMax);
  plan.level = r.Enum(plan::Level::kGuest);
  plan.uid = r.Uint<uint32_t>(), plan.gid = r.Uint<uint32_t>(), plan.ids_from_range = r.Bool();
  plan.ops.resize(r.Count(kOpBytesMin));
  for (Op& op : plan.ops) op = get.GetOp();
  plan.landlock.resize(r.Count(4 + 1));
  for (LandlockRule& rule : plan.landlock) {
    rule.path = r.Bytes(kPathBytesMax), rule.rights = r.Enum(plan::PathRights::kLast);
  }
  plan.syscall_profiles = r.Strings(), plan.limits = get.GetLimits();
  for (uint64_t* value : {&plan.tree.memory_bytes, &plan.tree.pids, &plan.tree.cpus_milli}) {
    *value = r.Uint<uint64_t>();
  }
  plan.canaries = get.GetCanaries(), plan.direct_writes = r.Bool();
  plan.job_domains = r.Bool();
  BAWN_CHECK_OK(r.Finish());
  BAWN_CHECK_OK(CheckPlan(plan));
  return plan;
}

Result<plan::Level> DecodeLevel(std::string_view bytes) {
  wire::Reader r(bytes);
  bool ours = r.Uint<uint32_t>() == kPlanFormat;
  (void)r.Bytes(kPathBytesMax), (void)r.Bytes(kHostnameBytesMax);
  auto level = r.Enum(plan::Level::kGuest);
  if (!ours || !r.ok()) return Fail(ErrorCode::kInternal, "not a plan of this build");
  return level;
}

std::string EncodeJobSpec(const plan::JobSpec& spec) {
  wire::Writer w;
  w.Uint(kJobSpecFormat), w.Strings(spec.argv), w.Strings(spec.env), w.Bytes(spec.cwd);
  w.Uint(spec.umask), w.Bool(spec.pty), w.Uint(spec.pty_rows), w.Uint(spec.pty_columns);
  return w.Take();
}

Result<plan::JobSpec> DecodeJobSpec(std::string_view bytes) {
  if (bytes.size() > wire::kJobSpecBytesMax) {
    return Fail(ErrorCode::kResourceExhausted, "command and environment of more than 8 MiB");
  }
  wire::Reader r(bytes);
  if (r.Uint<uint32_t>() != kJobSpecFormat) {
    return Fail(ErrorCode::kInternal, "not a job of this build");
  }
  plan::JobSpec spec;
  spec.argv = r.Strings(), spec.env = r.Strings(), spec.cwd = r.Bytes(kPathBytesMax);
  spec.umask = r.Uint<uint32_t>(), spec.pty = r.Bool();
  spec.pty_rows = r.Uint<uint16_t>(), spec.pty_columns = r.Uint<uint16_t>();
  BAWN_CHECK_OK(r.Finish());
  BAWN_CHECK_OK(CheckJobSpec(spec));
  return spec;
}

}  // namespace bawn::contain
