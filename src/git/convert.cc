#include "git/convert.h"

#include <cstring>

#include "git/repo.h"

namespace bawn::git {
namespace {

struct TextStats {
  size_t nul = 0, lone_cr = 0, lone_lf = 0, crlf = 0;
  size_t printable = 0, nonprintable = 0;
  bool LooksBinary() const { return lone_cr != 0 || nul != 0 || (printable >> 7) < nonprintable; }
};

TextStats Gather(std::string_view bytes) {
  TextStats stats;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    if (c == '\r') {
      if (i + 1 < bytes.size() && bytes[i + 1] == '\n') {
        ++stats.crlf;
        ++i;
      } else {
        ++stats.lone_cr;
      }
    } else if (c == '\n') {
      ++stats.lone_lf;
    } else if (c >= 32 ? c != 127 : (c == '\b' || c == '\t' || c == '\033' || c == '\014')) {
      ++stats.printable;
    } else {
      if (c == 0) ++stats.nul;
      ++stats.nonprintable;
    }
  }
  if (bytes.ends_with('\032')) --stats.nonprintable;  // DOS end of file
  return stats;
}

struct CrlfAction {
  bool known = false, text = false, guess = false, input = false;
};

CrlfAction ActionOf(const std::map<std::string, AttributeValue>& attributes, const char* name) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return {};
  if (const auto* state = std::get_if<AttributeState>(&found->second)) {
    return {.known = *state != AttributeState::kUnspecified,
            .text = *state == AttributeState::kTrue};
  }
  const std::string& value = std::get<std::string>(found->second);
  if (value == "input") return {.known = true, .text = true, .input = true};
  if (value == "auto") return {.known = true, .text = true, .guess = true};
  return {};
}

// Calls `replace` for each "$Id$" or "$Id:…$" on one line, with what stands between the dollars
// (without "Id"); it returns the replacement of the whole or nothing to leave it.
template <class F>
std::string ReplaceIdents(std::string_view bytes, F replace) {
  std::string out;
  out.reserve(bytes.size());
  while (true) {
    const size_t dollar = bytes.find('$');
    if (dollar == std::string_view::npos) break;
    out.append(bytes.substr(0, dollar + 1));
    bytes.remove_prefix(dollar + 1);
    if (!bytes.starts_with("Id")) continue;
    size_t end = 2;
    if (bytes.substr(2).starts_with(':')) {
      end = bytes.find('$', 3);
      if (end == std::string_view::npos) break;
    }
    if (end >= bytes.size() || bytes[end] != '$') continue;
    const std::string_view inner = bytes.substr(2, end - 2);
    if (inner.find('\n') != std::string_view::npos) continue;
    const std::string with = replace(inner);
    if (with.empty()) continue;
    out.append(with);
    bytes.remove_prefix(end + 1);
  }
  out.append(bytes);
  return out;
}

}  // namespace

TextRules RulesFrom(const std::map<std::string, AttributeValue>& attributes,
                    const LineEndConfig& config) {
  CrlfAction action = ActionOf(attributes, "text");
  if (!action.known) action = ActionOf(attributes, "crlf");  // the name before git 1.7.2
  const bool binary = action.known && !action.text;
  const bool crlf_by_config = config.autocrlf == AutoCrlf::kTrue ||
                              (config.autocrlf == AutoCrlf::kFalse && config.eol_crlf);
  TextRules rules;
  if (const auto ident = attributes.find("ident"); ident != attributes.end()) {
    const auto* state = std::get_if<AttributeState>(&ident->second);
    rules.ident = state != nullptr && *state == AttributeState::kTrue;
  }
  if (binary) return rules;
  const auto eol = attributes.find("eol");
  const std::string* eol_value =
      eol == attributes.end() ? nullptr : std::get_if<std::string>(&eol->second);
  if (eol_value != nullptr && (*eol_value == "lf" || *eol_value == "crlf")) {
    rules.text = true;
    rules.guess = action.guess;
    rules.crlf_in_work_tree = *eol_value == "crlf";
  } else if (action.known) {
    rules.text = true;
    rules.guess = action.guess;
    rules.crlf_in_work_tree = !action.input && crlf_by_config;
  } else if (config.autocrlf != AutoCrlf::kFalse) {
    rules.text = rules.guess = true;
    rules.crlf_in_work_tree = config.autocrlf == AutoCrlf::kTrue;
  }
  return rules;
}

std::string BytesToGit(const TextRules& rules, std::string_view bytes, bool base_has_crlf) {
  std::string out(bytes);
  if (rules.text && std::memchr(bytes.data(), '\r', bytes.size()) != nullptr) {
    const bool keep = rules.guess && (base_has_crlf || Gather(bytes).LooksBinary());
    if (!keep) {
      size_t to = 0;
      for (size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n') continue;
        out[to++] = bytes[i];
      }
      out.resize(to);
    }
  }
  if (!rules.ident) return out;
  return ReplaceIdents(out, [](std::string_view inner) {
    return inner.empty() ? std::string() : std::string("Id$");
  });
}

std::string BytesToWorkTree(const TextRules& rules, std::string_view blob) {
  std::string bytes(blob);
  if (rules.ident) {
    const std::string with = "Id: " + Repo::HashBlob(blob) + " $";
    bytes = ReplaceIdents(blob, [&](std::string_view inner) {
      // A keyword of another system ("$Id: file,v 1.2 date $") stays, as in git.
      const size_t space = inner.size() > 2 ? inner.find(' ', 2) : std::string_view::npos;
      const bool foreign = space != std::string_view::npos && space + 1 < inner.size();
      return foreign ? std::string() : with;
    });
  }
  if (!rules.text || !rules.crlf_in_work_tree) return bytes;
  const TextStats stats = Gather(bytes);
  if (stats.lone_lf == 0) return bytes;
  if (rules.guess && (stats.crlf != 0 || stats.LooksBinary())) return bytes;
  std::string out;
  out.reserve(bytes.size() + stats.lone_lf);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\n' && (i == 0 || bytes[i - 1] != '\r')) out += '\r';
    out += bytes[i];
  }
  return out;
}

bool HasCommittedCrlf(std::string_view blob) {
  if (blob.find('\r') == std::string_view::npos) return false;
  const TextStats stats = Gather(blob);
  return stats.crlf != 0 && !stats.LooksBinary();
}

}  // namespace bawn::git
