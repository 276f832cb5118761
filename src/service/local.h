// service/local.h
// The local implementation of bawn.h: everything happens in this process and its children. One file
// per verb: run.cc, plan.cc, diff.cc, publish.cc, apply.cc, discard.cc, list.cc, show.cc,
// doctor.cc.
#pragma once

#include <string>
#include <vector>

#include "service/bawn.h"

namespace bawn::service {

class LocalBawn final : public Bawn {
 public:
  explicit LocalBawn(std::vector<std::string> environment) : environment_(std::move(environment)) {}
  Result<RunResult> Run(const RunOptions& options, const Notice& notice) override;
  Result<PlanResult> Plan(const RunOptions& options) override;
  Result<Json> Diff(const DiffOptions& options) override;
  Result<Json> Publish(const PublishOptions& options, const Confirm& confirm) override;
  Result<Json> Apply(const ApplyOptions& options, const Confirm& confirm) override;
  Result<Json> Discard(const DiscardOptions& options, const Confirm& confirm) override;
  Result<Json> List(const std::string& workspace, bool everywhere) override;
  Result<Json> Show(const SandboxSelector& sandbox) override;
  Result<Json> Why(const SandboxSelector& sandbox) override;
  Result<> Logs(const SandboxSelector& sandbox, const std::string& stream, int fd) override;
  Result<Json> Doctor() override;

 private:
  std::vector<std::string> environment_;
};

}  // namespace bawn::service
