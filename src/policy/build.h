// policy/build.h
// The state of one Compile(), shared by its stages (one file each). Private to the room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/compile.h"

namespace bawn::policy {

struct Build {
  const Policy& policy;
  const JobRequest& request;
  const plan::HostFacts& host;
  const plan::WorkspaceFacts& workspace;
  std::string sandbox_id;
  plan::Level level = plan::Level::kIsolated;

  Compiled out = {};
  std::string home = {};  // the user's directory in the view
  std::string user_name = {};
  std::string shell = {};
  std::string secrets_dir = {};  // empty: no secrets
  std::string scratch = {};      // where TMPDIR points; empty: /tmp
  std::vector<std::string> visible =
      {};  // trees of the view, for PATH, the shell and the job's cwd

  bool has_view() const { return level >= plan::Level::kIsolated; }
  const plan::PathFact& Fact(std::string_view path) const;
  bool IsVisible(std::string_view path) const;
  bool ShowsHost(
      std::string_view path) const;  // visible, and not only as a part of the private home
  bool Exists(std::string_view path) const { return Fact(path).kind != plan::PathKind::kMissing; }

  void Note(plan::Verdict verdict, std::string subject, std::string rule_id, const Origin& origin,
            std::string_view reason, std::string remedy = {});
  // Drops an op whose target has one already: two links of /etc may end at one file.
  void AddOnce(plan::Op op);
  void Rule(std::string path, plan::PathRights rights);
};

extern const Origin kBuiltIn;
extern const Origin kCommandLine;

// A path somebody asked for: `key` is "ro", "rw", "hide" or "show".
struct Asked {
  std::string path;  // clean
  Origin origin;
  std::string_view key;
};
Result<std::vector<Asked>> AskedPaths(const Policy& policy, const JobRequest& request,
                                      std::string_view home, std::string_view key);

// "--ro /x" or "profile.yaml:3: view.ro /x": the start of a refusal's message.
std::string Where(const Asked& asked);
std::unexpected<Error> Refuse(const std::string& where, std::string_view reason, std::string hint,
                              std::string rule);

// Ops with sources that must still be the object that was looked at.
plan::Source SourceOf(std::string_view path, const plan::PathFact& fact);
plan::Op BindOp(std::string_view path, const plan::PathFact& fact, bool read_only);
plan::Op OverlayOp(std::string_view path, const plan::PathFact& fact);
plan::Op FileOp(std::string path, std::string content, uint32_t mode = 0644);
plan::Op SymlinkOp(std::string path, std::string target);
plan::Op TmpfsOp(std::string path, uint64_t size_bytes, uint64_t inodes, uint32_t mode);
plan::Op EmptyCoverOp(std::string_view path, const plan::PathFact& fact);

// The real home, or a place of Bawn's own when that one may not be covered.
std::string HomeInView(const plan::HostFacts& host);

// The stages, in order.
void AddSystem(Build* build);           // compile_system.cc
void AddEtc(Build* build);              // compile_etc.cc
void AddIdentity(Build* build);         // identity.cc
void AddDevices(Build* build);          // compile_system.cc
void AddHome(Build* build);             // compile_home.cc
Result<> AddShown(Build* build);        // compile_shown.cc: toolchains, --ro, --rw, --show
Result<> AddCovers(Build* build);       // compile_covers.cc
Result<> AddSecrets(Build* build);      // compile_covers.cc
Result<> AddLimits(Build* build);       // limits.cc
Result<> AddEnvironment(Build* build);  // environment.cc
Result<> AddJob(Build* build);          // compile.cc
Result<> AddRestricted(Build* build);   // compile_restricted.cc

}  // namespace bawn::policy
