#include "cli/pager.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/processes.h"
#include "sys/sockets.h"

namespace bawn::cli {
namespace {

bool InPath(const Console& console, const std::string& program) {
  std::string path = console.Env("PATH");
  for (size_t at = 0; at <= path.size();) {
    size_t colon = std::min(path.find(':', at), path.size());
    std::string directory = path.substr(at, colon - at);
    if (directory.starts_with("/") && access((directory + "/" + program).c_str(), X_OK) == 0) {
      return true;
    }
    at = colon + 1;
  }
  return false;
}

// As git does: less quits when all fits on one screen, keeps colours, leaves the text standing.
std::vector<std::string> PagerEnvironment(const Console& console) {
  std::vector<std::string> environment = console.environment;
  if (console.Env("LESS").empty()) environment.emplace_back("LESS=FRX");
  if (console.Env("LV").empty()) environment.emplace_back("LV=-c");
  return environment;
}

void SetInterrupts(void (*action)(int)) {
  struct sigaction change = {};
  change.sa_handler = action;
  sigaction(SIGINT, &change, nullptr);
  sigaction(SIGQUIT, &change, nullptr);
}

}  // namespace

std::string PagerCommand(const Console& console) {
  if (!console.out_terminal || console.Env("TERM") == "dumb") return {};
  std::string command = console.Env("BAWN_PAGER");
  if (command.empty()) command = console.Env("PAGER");
  if (command.empty() && InPath(console, "less")) command = "less";
  return command == "cat" ? std::string() : command;
}

bool ReaderGone(int fd) {
  pollfd ask = {fd, 0, 0};
  return poll(&ask, 1, 0) == 1 && (ask.revents & (POLLERR | POLLHUP)) != 0;
}

Result<Pager> Pager::Start(const Console& console, const std::string& command) {
  auto [read_end, write_end] = BAWN_TRY(sys::Pipe());
  UniqueFd shell = BAWN_TRY(sys::Openat2(AT_FDCWD, "/bin/sh", O_RDONLY));
  sys::SpawnSpec spec;
  spec.program_fd = shell.get();
  spec.argv = {"sh", "-c", command};
  spec.envp = PagerEnvironment(console);
  spec.fds = {read_end.get(), console.out_fd, console.err_fd};
  sys::Child child = BAWN_TRY(sys::Spawn(spec));
  SetInterrupts(SIG_IGN);
  return Pager(std::move(write_end), std::move(child.pidfd));
}

Result<> Pager::Finish() {
  text_.Reset();
  bool ended = false;
  BAWN_CHECK_OK(sys::WaitPidfd(pidfd_.get(), true, &ended));
  pidfd_.Reset();
  SetInterrupts(SIG_DFL);
  return {};
}

Pager::~Pager() {
  if (pidfd_.valid()) (void)Finish();  // nothing more can be done about a pager
}

}  // namespace bawn::cli
