// cli/confirm.h
// The question before publish, apply and discard (DESIGN 6, RT-15). On a terminal: what would
// happen is shown, paths that run by themselves apart, and asked once on /dev/tty; typed-ahead
// answers are dropped. Elsewhere nobody can be asked, so the words must be on the command line, and
// the refusal shows the command to type.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/console.h"
#include "cli/parse.h"

namespace bawn::cli {

class Confirmer {
 public:
  // Both are borrowed and outlive this.
  Confirmer(const Console& console, const Invocation& invocation)
      : console_(console), invocation_(invocation) {}

  // Before the service is asked: kFailedPrecondition when the command line lacks the words.
  Result<> CheckWords() const;

  // The service's Confirm: shows `prepared` and decides. When it refuses, `refusal` says why.
  bool Decide(const Json& prepared);
  const std::optional<Error>& refusal() const { return refusal_; }

 private:
  bool HasWords() const;
  bool Ask(const std::string& text);
  bool Refuse(std::string message, std::string hint, std::string rule);

  const Console& console_;
  const Invocation& invocation_;
  std::optional<Error> refusal_;
};

// The command as given, with `extra` options: "bawn publish -m 'a b' --unreviewed brave-otter-k3f".
std::string Retyped(const Invocation& invocation, const std::vector<std::string>& extra);

// What `prepared` would do, for people.
std::string PreparedText(const Json& prepared);

}  // namespace bawn::cli
