#include "sys/events.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace bawn::sys {
namespace {

void Nothing(int) {}

// Interrupts a blocking call about every `patience_ms` for the life of the object. Periodic, so
// that an alarm just before the call is not the only one.
class Alarm {
 public:
  explicit Alarm(int patience_ms) {
    struct sigaction action = {};
    action.sa_handler = Nothing;  // no SA_RESTART: write(2) returns EINTR
    sigaction(SIGALRM, &action, &old_);
    timeval period = {patience_ms / 1000, (patience_ms % 1000) * 1000L};
    itimerval timer = {period, period};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() {
    itimerval off = {};
    setitimer(ITIMER_REAL, &off, nullptr);
    sigaction(SIGALRM, &old_, nullptr);
  }

 private:
  struct sigaction old_ = {};
};

}  // namespace

Result<int> Poll(std::vector<pollfd>* items, int timeout_ms) {
  int ready = poll(items->data(), items->size(), timeout_ms);
  if (ready < 0 && errno == EINTR) {
    for (pollfd& item : *items) item.revents = 0;
    return 0;
  }
  if (ready < 0) return FailErrno(errno, "poll");
  return ready;
}

Result<SignalSet> SignalSet::Block(const std::vector<int>& signals) {
  sigset_t set;
  sigset_t old;
  sigemptyset(&set);
  for (int signal : signals) sigaddset(&set, signal);
  if (sigprocmask(SIG_BLOCK, &set, &old) < 0) return FailErrno(errno, "sigprocmask");
  int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) return FailErrno(errno, "signalfd");
  return SignalSet(UniqueFd(fd), old);
}

SignalSet::~SignalSet() {
  if (fd_.valid()) sigprocmask(SIG_SETMASK, &old_, nullptr);
}

int SignalSet::Next() {
  signalfd_siginfo info = {};
  return read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

Result<size_t> WriteWithPatience(int fd, std::string_view bytes, int patience_ms) {
  Alarm alarm(patience_ms);
  ssize_t done = write(fd, bytes.data(), bytes.size());
  if (done >= 0) return static_cast<size_t>(done);
  if (errno == EINTR || errno == EAGAIN) return size_t{0};
  return FailErrno(errno, "write");
}

Result<size_t> SpliceWithPatience(int from, int to, size_t size, int patience_ms, bool* blocked) {
  Alarm alarm(patience_ms);
  ssize_t done = splice(from, nullptr, to, nullptr, size, SPLICE_F_MOVE);
  *blocked = done < 0 && (errno == EINTR || errno == EAGAIN);
  if (done >= 0) return static_cast<size_t>(done);
  if (*blocked) return size_t{0};
  return FailErrno(errno, "splice");
}

void SleepMs(int ms) { poll(nullptr, 0, ms); }

void IgnoreSigpipe() {
  struct sigaction action = {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

}  // namespace bawn::sys
