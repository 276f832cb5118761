// cli/test_support.h
// For the tests of this room: a service that records what it was asked and answers what the test
// put in, and a console whose words can be read back.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/cli.h"
#include "service/bawn.h"
#include "sys/files.h"
#include "sys/processes.h"

namespace bawn::cli {

class FakeBawn final : public service::Bawn {
 public:
  // What was asked; absent when the verb was not.
  std::optional<service::RunOptions> run, plan;
  std::optional<service::DiffOptions> diff;
  std::optional<service::PublishOptions> publish;
  std::optional<service::ApplyOptions> apply;
  std::optional<service::DiscardOptions> discard;
  std::optional<service::SandboxSelector> show, why, logs;
  std::optional<std::pair<std::string, bool>> list;
  std::string logs_stream;
  std::optional<bool> confirmed;

  // What is answered.
  service::RunResult run_result;
  std::vector<std::string> notices;
  service::PlanResult plan_result;
  Json answer = JsonObject();
  Json prepared = JsonObject();
  std::string text;  // what diff and logs write
  std::optional<Error> error;

  Result<service::RunResult> Run(const service::RunOptions& options,
                                 const service::Notice& notice) override {
    run = options;
    for (const std::string& line : notices) notice(line);
    if (error) return std::unexpected(*error);
    return run_result;
  }
  Result<service::PlanResult> Plan(const service::RunOptions& options) override {
    plan = options;
    if (error) return std::unexpected(*error);
    return plan_result;
  }
  Result<Json> Diff(const service::DiffOptions& options) override {
    diff = options;
    Result<> written = sys::WriteAll(options.text_fd, text);
    if (!written) return std::unexpected(written.error());
    return Answer();
  }
  Result<Json> Publish(const service::PublishOptions& options,
                       const service::Confirm& confirm) override {
    publish = options;
    return Confirmed(confirm);
  }
  Result<Json> Apply(const service::ApplyOptions& options,
                     const service::Confirm& confirm) override {
    apply = options;
    return Confirmed(confirm);
  }
  Result<Json> Discard(const service::DiscardOptions& options,
                       const service::Confirm& confirm) override {
    discard = options;
    return Confirmed(confirm);
  }
  Result<Json> List(const std::string& workspace, bool everywhere) override {
    list = {workspace, everywhere};
    return Answer();
  }
  Result<Json> Show(const service::SandboxSelector& sandbox) override {
    show = sandbox;
    return Answer();
  }
  Result<Json> Why(const service::SandboxSelector& sandbox) override {
    why = sandbox;
    return Answer();
  }
  Result<> Logs(const service::SandboxSelector& sandbox, const std::string& stream,
                int fd) override {
    logs = sandbox;
    logs_stream = stream;
    return sys::WriteAll(fd, text);
  }
  Result<Json> Doctor() override { return Answer(); }

 private:
  Result<Json> Answer() const {
    if (error) return std::unexpected(*error);
    return answer;
  }
  Result<Json> Confirmed(const service::Confirm& confirm) {
    confirmed = confirm(prepared);
    if (!*confirmed) return Fail(ErrorCode::kFailedPrecondition, "not confirmed");
    return Answer();
  }
};

// Runs the command line against a FakeBawn; stdout and stderr are kept.
class CliTest : public testing::Test {
 protected:
  CliTest() : out_(*sys::Memfd("out")), err_(*sys::Memfd("err")) {
    console_.out_fd = out_.get();
    console_.err_fd = err_.get();
    console_.environment = {"PATH=/usr/bin:/bin", "TERM=xterm"};
  }

  int Bawn(const std::vector<std::string>& arguments) { return Main(arguments, console_, fake_); }
  std::string Out() const { return ReadBack(out_.get()); }
  std::string Err() const { return ReadBack(err_.get()); }

  FakeBawn fake_;
  Console console_;

 private:
  static std::string ReadBack(int fd) {
    Result<UniqueFd> again = sys::Reopen(fd, O_RDONLY);
    return again ? *sys::ReadAll(again->get(), 64 << 20) : "";
  }
  UniqueFd out_, err_;
};

}  // namespace bawn::cli
