#include "contain/subids.h"

#include <fcntl.h>

#include <charconv>
#include <optional>
#include <vector>

#include "sys/files.h"

namespace bawn::contain {
namespace {

constexpr size_t kFileBytesMax = 16 << 20;
constexpr uint64_t kIdsEnd = 0xffffffff;   // (uid_t)-1 is no id
constexpr uint64_t kFirstAllowed = 65536;  // above nobody (65534) and all static system ids
// Between what systemd-nspawn and logind use at most (524288 to 1879048191) and 2^31, where some
// tools stop: 2^20 ids are 1,024 leases.
constexpr uint64_t kSuggestedFirst = 1879048192;
constexpr uint64_t kSuggestedCount = 1 << 20;

struct Claim {
  uint64_t first = 0;
  uint64_t end = 0;
  std::string who;  // "carol in /etc/passwd"
};

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::unexpected<Error> Malformed(const std::string& file, size_t line, const char* shape) {
  return Fail(ErrorCode::kFailedPrecondition,
              file + ":" + std::to_string(line) + " is not " + shape, "correct that line",
              "subids");
}

// The lines of a file that is allowed to be absent, without comments and empty ones.
struct Line {
  size_t number = 0;
  std::string text;
};
Result<std::vector<Line>> Lines(const std::string& file) {
  Result<std::string> text = sys::ReadFileAt(AT_FDCWD, file, kFileBytesMax);
  std::vector<Line> lines;
  if (!text && text.error().sys_errno == ENOENT) return lines;
  if (!text) return std::unexpected(text.error());
  size_t number = 0;
  for (std::string_view line : Split(*text, '\n')) {
    ++number;
    if (!line.empty() && line.front() != '#') lines.push_back({number, std::string(line)});
  }
  return lines;
}

Result<std::vector<Claim>> SubIdClaims(const std::string& file) {
  std::vector<Claim> claims;
  for (const Line& line : BAWN_TRY(Lines(file))) {
    std::vector<std::string_view> fields = Split(line.text, ':');
    if (fields.size() != 3) return Malformed(file, line.number, "OWNER:FIRST:COUNT");
    std::optional<uint64_t> first = Number(fields[1]), count = Number(fields[2]);
    if (!first || !count || *first > kIdsEnd || *count > kIdsEnd) {
      return Malformed(file, line.number, "OWNER:FIRST:COUNT with ids below 2^32");
    }
    claims.push_back({*first, *first + *count, std::string(fields[0])});
  }
  return claims;
}

// The id is the third field of passwd(5) and of group(5) alike. NIS lines ("+…") claim nothing.
Result<std::vector<Claim>> AccountClaims(const std::string& file) {
  std::vector<Claim> claims;
  for (const Line& line : BAWN_TRY(Lines(file))) {
    if (line.text.front() == '+' || line.text.front() == '-') continue;
    std::vector<std::string_view> fields = Split(line.text, ':');
    std::optional<uint64_t> id = fields.size() >= 3 ? Number(fields[2]) : std::nullopt;
    if (!id) return Malformed(file, line.number, "NAME:PASSWORD:ID:…");
    claims.push_back({*id, *id + 1, std::string(fields[0]) + " in " + file});
  }
  return claims;
}

bool Overlap(const Claim& a, const Claim& b) { return a.first < b.end && b.first < a.end; }

// Everything but Bawn's own entry.
struct Table {
  std::string file;
  std::vector<Claim> others;
  std::vector<Claim> ours;
};

Result<Table> ReadTable(const std::string& subid_file, const std::string& account_file) {
  Table table;
  table.file = subid_file;
  table.others = BAWN_TRY(AccountClaims(account_file));
  for (Claim& claim : BAWN_TRY(SubIdClaims(subid_file))) {
    if (claim.who == kSubIdOwner) {
      table.ours.push_back(std::move(claim));
    } else {
      claim.who = "the entry of " + claim.who + " in " + subid_file;
      table.others.push_back(std::move(claim));
    }
  }
  return table;
}

// The first free span, the same in both files: one line to add to each.
std::string LineToAdd(const Table& uids, const Table& gids) {
  Claim wanted;
  auto is_free = [&wanted](const Table& table) {
    for (const Claim& other : table.others) {
      if (Overlap(wanted, other)) return false;
    }
    return true;
  };
  for (wanted.first = kSuggestedFirst;; wanted.first += kSuggestedCount) {
    wanted.end = wanted.first + kSuggestedCount;
    if (wanted.end > kIdsEnd) return "";
    if (is_free(uids) && is_free(gids)) break;
  }
  return std::string(kSubIdOwner) + ":" + std::to_string(wanted.first) + ":" +
         std::to_string(kSuggestedCount);
}

Result<IdSpan> OurSpan(const Table& table, const std::string& hint) {
  auto refuse = [&](const std::string& why) {
    return Fail(ErrorCode::kFailedPrecondition, table.file + why, hint, "subids");
  };
  if (table.ours.empty()) return refuse(" has no entry for bawn");
  if (table.ours.size() > 1) return refuse(" has more than one entry for bawn");
  const Claim& ours = table.ours.front();
  if (ours.end == ours.first) return refuse(": the entry for bawn is empty");
  if (ours.first < kFirstAllowed || ours.end > kIdsEnd) {
    return refuse(": the entry for bawn is not within 65536 to 4294967294");
  }
  for (const Claim& other : table.others) {
    if (Overlap(ours, other)) return refuse(": the entry for bawn overlaps " + other.who);
  }
  return IdSpan{static_cast<uint32_t>(ours.first), static_cast<uint32_t>(ours.end - ours.first)};
}

}  // namespace

Result<SubIds> ReadSubIds(const SubIdFiles& files) {
  Table uids = BAWN_TRY(ReadTable(files.subuid, files.passwd));
  Table gids = BAWN_TRY(ReadTable(files.subgid, files.group));
  std::string line = LineToAdd(uids, gids);
  std::string hint = line.empty()
                         ? "free a range of 1048576 ids for bawn"
                         : "add the line " + line + " to " + files.subuid + " and " + files.subgid;
  SubIds ids;
  ids.uids = BAWN_TRY(OurSpan(uids, hint));
  ids.gids = BAWN_TRY(OurSpan(gids, hint));
  return ids;
}

}  // namespace bawn::contain
