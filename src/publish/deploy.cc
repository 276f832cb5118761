#include "publish/deploy.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace bawn::publish {
namespace {

// Names of refs and remotes may hold what a shell would take for its own.
std::string Word(const std::string& text) {
  constexpr std::string_view kPlain = "@%+=:,./-_";
  bool plain = !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kPlain.find(c) != kPlain.npos;
  });
  if (plain) return text;
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') out += "'\\'";
    out += c;
  }
  return out + "'";
}

}  // namespace

Result<std::string> DeployCommand(git::Repo& repo, const std::string& ref, bool update_tree) {
  std::string branch = ref.substr(std::string_view("refs/heads/").size());
  std::optional<std::string> remote;
  if (update_tree) remote = BAWN_TRY(repo.ConfigString("branch." + branch + ".remote"));
  bool elsewhere = remote && !remote->empty() && *remote != ".";
  std::string command =
      elsewhere ? "git push " + Word(*remote) + " " + Word(branch) : "git merge " + Word(branch);
  return IsValidUtf8(command) ? command : EscapeName(command);
}

}  // namespace bawn::publish
