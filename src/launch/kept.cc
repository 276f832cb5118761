#include "launch/kept.h"

#include <poll.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sys/events.h"
#include "sys/sockets.h"
#include "wire/control.h"

namespace bawn::launch {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int kEndMs = 5000;
constexpr int64_t kKillAnswerMs = 1000;   // RT-14: then the whole sandbox is killed
constexpr int64_t kFirstClientMs = 5000;  // who made it connects at once, or was killed
constexpr int64_t kFirstJobMs = 20'000;   // from there to the first job, however short keep_for is

// One connection and the one job it may start. `job` is our number towards init, `own` the
// client's.
struct Client {
  UniqueFd fd;
  uint32_t job = 0;
  uint32_t own = 0;
  bool running = false;
  bool left = false;  // the connection ended; only its job is still being killed
  int64_t kill_deadline = 0;
};

class KeptServer {
 public:
  explicit KeptServer(KeptSandbox kept) : kept_(std::move(kept)) {}
  Result<> Serve();

 private:
  Result<> Turn();
  void OnListener();
  void OnInit();
  void OnClient(Client* client);
  void StartJob(Client* client, const wire::StartJob& start, const std::vector<UniqueFd>& fds);
  void KillJob(Client* client);
  void Lose(Client* client);
  void Route(wire::FromInit frame, const std::vector<UniqueFd>& fds);
  void Send(Client* client, const wire::FromInit& frame, const std::vector<int>& fds = {});
  bool AnyRunning() const;
  int64_t IdleEnd() const;
  int WaitMs(int64_t now) const;
  void OnTime(int64_t now);
  void OnTree();

  KeptSandbox kept_;
  contain::Sandbox sandbox_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Client>> waiting_;  // connected before the sandbox stood
  std::optional<wire::Ready> ready_;
  uint32_t next_job_ = 1;
  int64_t idle_since_ = 0;
  int64_t started_ = 0;
  int64_t next_look_ = 0;  // at what the control group counted
  bool met_ = false;       // a client came
  bool ended_ = false;
};

Result<> KeptServer::Serve() {
  started_ = idle_since_ = MonotonicNs();
  sandbox_ = BAWN_TRY(kept_.engine->Provision(std::move(kept_.provision)));
  while (!ended_) {
    if (!Turn()) ended_ = true;
  }
  return kept_.engine->Destroy(&sandbox_,
                               kEndMs);  // clients see the end of their connection after it
}

Result<> KeptServer::Turn() {
  std::vector<pollfd> items = {{sandbox_.control.get(), POLLIN, 0},
                               {sandbox_.pid1.get(), POLLIN, 0},
                               {kept_.listener.get(), POLLIN, 0}};
  for (const auto& client : clients_) {
    items.push_back({client->left ? -1 : client->fd.get(), POLLIN, 0});
  }
  size_t clients_end = items.size();
  if (sandbox_.group) {
    const std::vector<pollfd>& watches = sandbox_.group->watches();
    items.insert(items.end(), watches.begin(), watches.end());
  }
  BAWN_CHECK_OK(sys::Poll(&items, WaitMs(MonotonicNs())));
  for (size_t i = clients_end; i < items.size(); ++i) {
    if (items[i].revents != 0) OnTree();
  }
  if (items[0].revents != 0) OnInit();
  if (items[1].revents != 0) ended_ = true;
  // By index of the poll list: OnListener only appends, removal is at the end.
  for (size_t i = 3; i < clients_end; ++i) {
    if (items[i].revents != 0) OnClient(clients_[i - 3].get());
  }
  if (items[2].revents != 0) OnListener();
  OnTime(MonotonicNs());
  std::erase_if(clients_, [](const auto& client) { return client->left && !client->running; });
  return {};
}

// Groups are per sandbox, not per job: a limit of the tree ends every job in it, and each client
// hears why.
void KeptServer::OnTree() {
  plan::KilledBy violated = sandbox_.group->Violated();
  if (violated == plan::KilledBy::kNothing || ended_) return;
  for (auto& client : clients_) {
    if (!client->left) Send(client.get(), wire::TreeKilled{static_cast<uint32_t>(violated)});
  }
  ended_ = true;
}

void KeptServer::OnListener() {
  Result<UniqueFd> fd = sys::AcceptOwnUser(kept_.listener.get());
  if (!fd || clients_.size() + waiting_.size() >= kClientsMax) return;  // closed: refused
  auto client = std::make_unique<Client>();
  client->fd = std::move(*fd);
  met_ = true;
  idle_since_ = MonotonicNs();
  if (!ready_) {
    waiting_.push_back(std::move(client));
    return;
  }
  Send(client.get(), *ready_, {sandbox_.pid1.get()});
  clients_.push_back(std::move(client));
}

void KeptServer::OnInit() {
  Result<sys::Packet> packet =
      sys::ReceivePacket(sandbox_.control.get(), wire::kControlFrameBytesMax, false);
  if (!packet || packet->eof) {
    ended_ = true;
    return;
  }
  Result<wire::FromInit> frame = wire::DecodeFromInit(packet->bytes);
  if (!frame) {
    ended_ = true;  // pid 1 broke its protocol: nothing it says counts any more
    return;
  }
  Route(std::move(*frame), packet->fds);
}

void KeptServer::Route(wire::FromInit frame, const std::vector<UniqueFd>& fds) {
  if (const auto* ready = std::get_if<wire::Ready>(&frame)) {
    ready_ = *ready;
    ready_->layers.insert(ready_->layers.begin(), sandbox_.layers.begin(), sandbox_.layers.end());
    size_t at = clients_.size();
    std::ranges::move(waiting_, std::back_inserter(clients_));
    waiting_.clear();
    for (; at < clients_.size(); ++at) Send(clients_[at].get(), *ready_, {sandbox_.pid1.get()});
    return;
  }
  if (std::holds_alternative<wire::SetupFailed>(frame)) {
    for (auto& client : waiting_) Send(client.get(), frame);
    ended_ = true;
    return;
  }
  std::vector<int> borrowed;
  for (const UniqueFd& fd : fds) borrowed.push_back(fd.get());
  auto to_client = [&](auto& message, bool last) {
    for (auto& client : clients_) {
      if (client->job != message.job || message.job == 0) continue;
      message.job = client->own;
      if (last) client->running = false, client->kill_deadline = 0;
      if (!client->left) Send(client.get(), wire::FromInit(message), borrowed);
    }
    if (last && !AnyRunning()) idle_since_ = MonotonicNs();
  };
  if (auto* m = std::get_if<wire::JobStarted>(&frame)) to_client(*m, false);
  if (auto* m = std::get_if<wire::JobFailed>(&frame)) to_client(*m, true);
  if (auto* m = std::get_if<wire::JobExited>(&frame)) {
    if (sandbox_.group) OnTree();  // before the end that a limit of the tree brought about
    to_client(*m, true);
  }
  if (auto* m = std::get_if<wire::JobKilled>(&frame)) {
    if (!m->gone) ended_ = true;  // what cannot be killed alone ends with everything
    to_client(*m, true);
  }
}

void KeptServer::Send(Client* client, const wire::FromInit& frame, const std::vector<int>& fds) {
  Result<> sent = sys::SendPacket(client->fd.get(), wire::Encode(frame), fds);
  if (!sent) Lose(client);
}

void KeptServer::OnClient(Client* client) {
  Result<sys::Packet> packet =
      sys::ReceivePacket(client->fd.get(), wire::kControlFrameBytesMax, false);
  if (!packet || packet->eof) return Lose(client);
  Result<wire::ToInit> frame = wire::DecodeToInit(packet->bytes);
  if (!frame) return Lose(client);
  if (const auto* start = std::get_if<wire::StartJob>(&*frame)) {
    StartJob(client, *start, packet->fds);
  } else if (const auto* signal = std::get_if<wire::SignalJob>(&*frame)) {
    wire::SignalJob forwarded{client->job, signal->signal};
    if (client->running) {
      (void)sys::SendPacket(sandbox_.control.get(), wire::Encode(wire::ToInit(forwarded)));
    }
  } else if (const auto* kill = std::get_if<wire::KillJob>(&*frame)) {
    if (kill->job == 0) {
      ended_ = true;
    } else if (client->running) {
      KillJob(client);
    } else {
      Send(client, wire::JobKilled{client->own, true});
    }
  }
}

void KeptServer::StartJob(Client* client, const wire::StartJob& start,
                          const std::vector<UniqueFd>& fds) {
  bool shape = fds.size() == 1 || fds.size() == 4;
  if (client->job != 0 || !shape || next_job_ >= wire::kJobsPerSandboxMax * 1024) {
    return Send(client, wire::JobFailed{start.job, "keeper", 0, "one job per connection"});
  }
  client->own = start.job;
  client->job = next_job_++;
  client->running = true;
  std::vector<int> borrowed;
  for (const UniqueFd& fd : fds) borrowed.push_back(fd.get());
  wire::StartJob forwarded{client->job};
  if (!sys::SendPacket(sandbox_.control.get(), wire::Encode(wire::ToInit(forwarded)), borrowed)) {
    ended_ = true;
  }
}

void KeptServer::KillJob(Client* client) {
  client->kill_deadline = MonotonicNs() + kKillAnswerMs * kMs;
  wire::KillJob kill{client->job};
  if (!sys::SendPacket(sandbox_.control.get(), wire::Encode(wire::ToInit(kill)))) ended_ = true;
}

void KeptServer::Lose(Client* client) {
  if (client->left) return;
  client->left = true;
  client->fd.Reset();
  if (client->running) KillJob(client);
  // The command that made it is gone before its job: nothing ran, and nobody waits for anything.
  bool alone =
      waiting_.empty() && std::ranges::all_of(clients_, [](const auto& one) { return one->left; });
  if (next_job_ == 1 && alone) ended_ = true;
}

bool KeptServer::AnyRunning() const {
  return std::any_of(clients_.begin(), clients_.end(), [](const auto& c) { return c->running; });
}

// Making it and starting its first job is no time without a job.
int64_t KeptServer::IdleEnd() const {
  auto keep_for = static_cast<int64_t>(kept_.keep_for_ms);
  if (!met_) {
    keep_for = kFirstClientMs;
  } else if (next_job_ == 1) {
    keep_for = std::max(keep_for, kFirstJobMs);
  }
  return idle_since_ + keep_for * kMs;
}

int KeptServer::WaitMs(int64_t now) const {
  int64_t next = started_ + static_cast<int64_t>(kKeptHardLimitMs) * kMs;
  if (!AnyRunning()) next = std::min(next, IdleEnd());
  if (sandbox_.group && AnyRunning()) next = std::min(next, next_look_);
  for (const auto& client : clients_) {
    if (client->kill_deadline != 0) next = std::min(next, client->kill_deadline);
  }
  return static_cast<int>(std::clamp<int64_t>((next - now) / kMs + 1, 0, 3'600'000));
}

void KeptServer::OnTime(int64_t now) {
  if (sandbox_.group && now >= next_look_) {
    OnTree();
    next_look_ = now + contain::Cgroup::kLookMs * kMs;
  }
  bool idle = !AnyRunning() && now >= IdleEnd();
  bool over = now - started_ >= static_cast<int64_t>(kKeptHardLimitMs) * kMs;
  bool stuck = std::any_of(clients_.begin(), clients_.end(), [&](const auto& client) {
    return client->kill_deadline != 0 && now >= client->kill_deadline;
  });
  if (idle || over || stuck) ended_ = true;
}

}  // namespace

Result<> ServeKept(KeptSandbox kept) {
  sys::IgnoreSigpipe();
  return KeptServer(std::move(kept)).Serve();
}

}  // namespace bawn::launch
