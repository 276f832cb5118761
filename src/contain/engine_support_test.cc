#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/ids.h"
#include "contain/engine_test_support.h"
#include "contain/plan_codec.h"
#include "sys/files.h"
#include "sys/processes.h"
#include "sys/sockets.h"

namespace bawn::contain {
namespace {

namespace fs = std::filesystem;
using plan::Op;
using plan::OpKind;

template <class T>
T Must(Result<T> result) {
  if (!result) ADD_FAILURE() << result.error().message;
  return std::move(*result);
}
void Must(Result<> result) {
  if (!result) ADD_FAILURE() << result.error().message;
}

// /usr and the links or directories beside it, as this machine has them.
void AddSystem(std::vector<Op>* ops) {
  ops->push_back(BindOp("/usr", "/usr"));
  for (const char* name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    if (fs::is_symlink(name)) {
      Op link = MakeOp(OpKind::kSymlink, name);
      link.content = fs::read_symlink(name);
      ops->push_back(link);
    } else if (fs::is_directory(name)) {
      ops->push_back(BindOp(name, name));
    }
  }
}

void AddDevices(std::vector<Op>* ops) {
  ops->push_back(MakeOp(OpKind::kDir, "/dev"));
  for (const char* name : {"/dev/null", "/dev/zero", "/dev/urandom"}) {
    Op device = BindOp(name, name);
    device.devices = true, device.read_only = false;
    ops->push_back(device);
  }
  ops->push_back(MakeOp(OpKind::kDevpts, "/dev/pts"));
  Op ptmx = MakeOp(OpKind::kSymlink, "/dev/ptmx");
  ptmx.content = "pts/ptmx";
  ops->push_back(ptmx);
}

plan::Plan HandMadePlan(const HostDir& dir) {
  plan::Plan plan;
  plan.sandbox_id = NewId("sb_");
  plan.uid = IsRoot() ? kInnerId : getuid();
  plan.gid = IsRoot() ? kInnerId : getgid();
  plan.ids_from_range = IsRoot();
  AddSystem(&plan.ops);
  AddDevices(&plan.ops);
  plan.ops.push_back(MakeOp(OpKind::kProc, "/proc"));
  Op tmp = MakeOp(OpKind::kTmpfs, "/tmp");
  tmp.size_bytes = 64 << 20, tmp.inodes = 10000, tmp.mode = 01777;
  plan.ops.push_back(tmp);
  Op work = MakeOp(OpKind::kOverlay, "/work");
  work.lowers = {{dir.At("lower"), 0, 0, -1}};
  work.upper.path = dir.At("upper"), work.work.path = dir.At("work");
  plan.ops.push_back(work);
  Op payload = BindOp(Enclosure::ProgramPath("contain_test_payload"), "/payload");
  plan.ops.push_back(payload);
  plan.landlock = {{"/", plan::PathRights::kReadExecute},
                   {"/tmp", plan::PathRights::kWrite},
                   {"/work", plan::PathRights::kWrite},
                   {"/dev", plan::PathRights::kDevice},
                   {"/proc", plan::PathRights::kWrite}};
  return plan;
}

UniqueFd Listen(const sockaddr_un& address, socklen_t size) {
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(fd.get(), 8), 0);
  return fd;
}

}  // namespace

bool IsRoot() { return getuid() == 0; }

int ParseInt(std::string_view text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void RemoveHostTree(const std::string& path) {
  std::vector<fs::path> closed = {path};
  while (!closed.empty()) {
    fs::path directory = closed.back();
    closed.pop_back();
    fs::permissions(directory, fs::perms::owner_all, fs::perm_options::add);
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
      if (entry.symlink_status().type() == fs::file_type::directory) closed.push_back(entry);
    }
  }
  fs::remove_all(path);
}

Op MakeOp(OpKind kind, std::string target) {
  Op op;
  op.kind = kind, op.target = std::move(target);
  return op;
}

Op BindOp(const std::string& source, std::string target) {
  Op op = MakeOp(OpKind::kBind, std::move(target));
  op.lowers = {{source, 0, 0, -1}};
  return op;
}

HostDir::HostDir() {
  std::string name = fs::temp_directory_path() / "bawn_engine_XXXXXX";
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  path_ = name;
  EXPECT_EQ(chmod(path_.c_str(), 0755), 0);
  for (const char* part : {"lower", "upper", "work"}) {
    fs::create_directory(At(part));
    if (IsRoot()) EXPECT_EQ(chown(At(part).c_str(), kOuterId, kOuterId), 0);
  }
}

HostDir::~HostDir() {
  RemoveHostTree(path_);
  EXPECT_FALSE(fs::exists(path_));
}

void HostDir::Write(const std::string& name, const std::string& content) const {
  UniqueFd fd = Must(sys::Openat2(AT_FDCWD, At(name), O_WRONLY | O_CREAT | O_TRUNC, 0644));
  Must(sys::WriteAll(fd.get(), content));
  if (IsRoot()) EXPECT_EQ(fchown(fd.get(), kOuterId, kOuterId), 0);
}

std::string HostDir::Read(const std::string& name) const {
  return Must(sys::ReadFileAt(AT_FDCWD, At(name), 1 << 20));
}

Witness::Witness(const HostDir& dir) {
  dir.Write("outside", "host\n");
  targets_.outside_file = dir.At("outside");
  targets_.pathname_socket = dir.At("socket");
  targets_.abstract_socket = NewId("bawn_test_");
  targets_.host_pid = static_cast<uint32_t>(getpid());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, targets_.pathname_socket.data(), targets_.pathname_socket.size());
  pathname_socket_ = Listen(address, sizeof address);
  sockaddr_un abstract = {};
  abstract.sun_family = AF_UNIX;
  std::memcpy(abstract.sun_path + 1, targets_.abstract_socket.data(),
              targets_.abstract_socket.size());
  abstract_socket_ = Listen(abstract, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                                             targets_.abstract_socket.size()));
}

int JobResult::exit_code() const {
  if (!exited || !WIFEXITED(static_cast<int>(exited->status))) return -1;
  return WEXITSTATUS(static_cast<int>(exited->status));
}

int JobResult::signal() const {
  if (!exited || !WIFSIGNALED(static_cast<int>(exited->status))) return 0;
  return WTERMSIG(static_cast<int>(exited->status));
}

std::string Enclosure::ProgramPath(const std::string& name) {
  fs::path self = fs::read_symlink("/proc/self/exe");
  return (self.parent_path() / "../../bin" / name).lexically_normal();
}

std::string InitProgram(const HostDir& dir, bool own) {
  if (!own) return Enclosure::ProgramPath("bawn-init");
  std::string copy = dir.At("bawn-init");
  fs::copy_file(Enclosure::ProgramPath("bawn-init"), copy);
  EXPECT_EQ(chmod(copy.c_str(), 0755), 0);
  if (IsRoot()) EXPECT_EQ(chown(copy.c_str(), kOuterId, kOuterId), 0);
  return copy;
}

Enclosure::Enclosure(bool own_init)
    : plan(HandMadePlan(dir)),
      witness_(dir),
      engine_(Must(sys::Openat2(AT_FDCWD, InitProgram(dir, own_init), O_RDONLY))) {
  plan.canaries = witness_.targets();
}

Enclosure::~Enclosure() {
  if (sandbox_ && sandbox_->pid1.valid()) Must(engine_.Destroy(&*sandbox_, 5000));
}

void Enclosure::Prestart() {
  plan_file_ = Must(sys::Memfd("plan"));
  engine_.Prestart(plan_file_.get());
}

Result<> Enclosure::Provision() {
  ProvisionRequest request;
  request.sandbox_id = plan.sandbox_id;
  if (!plan_file_.valid()) plan_file_ = BAWN_TRY(sys::Memfd("plan"));
  BAWN_CHECK_OK(sys::FillAndSeal(plan_file_.get(), EncodePlan(plan)));
  request.plan = std::move(plan_file_);
  request.fds = std::move(fds);
  if (IsRoot()) request.ids = ProvisionRequest::IdRange{kOuterId, kOuterId, 1};
  sandbox_ = BAWN_TRY(engine_.Provision(std::move(request)));
  return {};
}

Result<> Enclosure::Start() {
  BAWN_CHECK_OK(Provision());
  std::optional<wire::FromInit> frame = Next(10000);
  if (!frame) return Fail(ErrorCode::kUnavailable, "no frame from pid 1");
  if (auto* stood = std::get_if<wire::Ready>(&*frame)) {
    ready = std::move(*stood);
    return {};
  }
  setup_failed = std::get<wire::SetupFailed>(*frame);
  return Fail(ErrorCode::kUnavailable, setup_failed->stage + ": " + setup_failed->text);
}

plan::JobSpec Enclosure::Spec(std::vector<std::string> argv) const {
  plan::JobSpec spec;
  spec.argv = std::move(argv);
  spec.env = {"PATH=/usr/bin:/bin", "HOME=/tmp", "LC_ALL=C"};
  spec.cwd = "/work";
  return spec;
}

LiveJob Enclosure::Launch(const plan::JobSpec& spec) {
  LiveJob job;
  job.id = ++last_job_;
  UniqueFd memfd = Must(sys::SealedMemfd("job", EncodeJobSpec(spec)));
  JobStreams streams;
  if (!spec.pty) {
    auto [out_read, out_write] = Must(sys::Pipe());
    auto [err_read, err_write] = Must(sys::Pipe());
    streams.in = Must(sys::Openat2(AT_FDCWD, "/dev/null", O_RDONLY));
    streams.out = std::move(out_write), streams.err = std::move(err_write);
    job.out = std::move(out_read), job.err = std::move(err_read);
  }
  Must(engine_.Execute(*sandbox_, job.id, memfd.get(), std::move(streams)));
  return job;
}

JobResult Enclosure::Finish(LiveJob* job, int deadline_ms) {
  JobResult result;
  int64_t deadline = MonotonicNs() + int64_t{deadline_ms} * 1'000'000;
  while (!result.failed && !result.exited) {
    int left = static_cast<int>((deadline - MonotonicNs()) / 1'000'000);
    std::optional<wire::FromInit> frame = Next(std::max(left, 0), &job->pty);
    if (!frame) break;
    if (auto* started = std::get_if<wire::JobStarted>(&*frame)) result.started = *started;
    if (auto* failed = std::get_if<wire::JobFailed>(&*frame)) result.failed = *failed;
    if (auto* exited = std::get_if<wire::JobExited>(&*frame)) result.exited = *exited;
  }
  if (job->out.valid()) result.out = ReadToEnd(job->out.get(), 5000);
  if (job->err.valid()) result.err = ReadToEnd(job->err.get(), 5000);
  return result;
}

JobResult Enclosure::Run(const plan::JobSpec& spec) {
  LiveJob job = Launch(spec);
  return Finish(&job);
}

JobResult Enclosure::Payload(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "/payload");
  return Run(Spec(std::move(arguments)));
}

void Enclosure::Send(const wire::ToInit& frame) {
  Must(sys::SendPacket(sandbox_->control.get(), wire::Encode(frame)));
}

std::optional<wire::FromInit> Enclosure::Next(int deadline_ms, UniqueFd* fd) {
  pollfd ready_to_read = {sandbox_->control.get(), POLLIN, 0};
  if (poll(&ready_to_read, 1, deadline_ms) <= 0) return std::nullopt;
  Result<sys::Packet> packet =
      sys::ReceivePacket(sandbox_->control.get(), wire::kControlFrameBytesMax, true);
  if (!packet || packet->eof) return std::nullopt;
  if (fd != nullptr && !packet->fds.empty()) *fd = std::move(packet->fds[0]);
  return Must(wire::DecodeFromInit(packet->bytes));
}

bool Enclosure::Gone(int deadline_ms) {
  pollfd gone = {sandbox_->pid1.get(), POLLIN, 0};
  return poll(&gone, 1, deadline_ms) == 1;
}

std::string ReadToEnd(int fd, int deadline_ms) {
  std::string text;
  char buffer[4096];
  pollfd readable = {fd, POLLIN, 0};
  while (poll(&readable, 1, deadline_ms) == 1) {
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

}  // namespace bawn::contain
