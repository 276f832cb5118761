// cli/parse.h
// Arguments -> Invocation, by the table. Options of a verb stand before its first operand; `--`
// ends them; for run and plan the first operand ends them too, so nothing of the command is ever
// taken for an option of ours, and no unknown option is ever passed on to the command.
// Pure: looks at nothing but the arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/table.h"

namespace bawn::cli {

struct Given {
  const OptionRow* row = nullptr;  // static storage
  std::string text;                // as written
  uint64_t number = 0;             // in the unit of its kind
};

struct Invocation {
  Verb verb = Verb::kHelp;
  std::vector<Given> options;
  std::vector<std::string> operands;  // bytes

  bool Has(OptionId id) const { return Find(id) != nullptr; }
  const Given* Find(OptionId id) const;  // the first; null when not given
  std::string Text(OptionId id) const;   // empty when not given
  std::optional<uint64_t> Number(OptionId id) const;
  std::vector<std::string> Texts(OptionId id) const;
  std::string Operand() const { return operands.empty() ? std::string() : operands[0]; }
};

// `arguments` without the program's name. Errors are kInvalidArgument; their hint says what to
// type.
Result<Invocation> Parse(const std::vector<std::string>& arguments);

// The verb that `arguments` start with, also where Parse fails; absent when there is none.
std::optional<Verb> VerbOf(const std::vector<std::string>& arguments);

}  // namespace bawn::cli
