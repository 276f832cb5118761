// cli/answer.h
// Reading the service's JSON for people: absent members become "-" or nothing, never a guess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/console.h"

namespace bawn::cli {

// The member at "a.b.c"; null when one is absent.
const Json* At(const Json& json, std::string_view path);
std::optional<uint64_t> NumberAt(const Json& json, std::string_view path);
std::string TextAt(const Json& json, std::string_view path);        // strings; else empty
const JsonArray& ArrayAt(const Json& json, std::string_view path);  // empty when absent

// A count, given as a number or as a list.
uint64_t CountAt(const Json& json, std::string_view path);
// An element of a list of paths: {"path", "why" or "reason"}, or the path alone.
std::string PathOf(const Json& element);
std::string ReasonOf(const Json& element);

// A command as a person would type it: words with blanks or quotes in single quotes.
std::string CommandText(const JsonArray& words);
std::string ShellWord(std::string_view word);

// Terminal-safe, and without line breaks: a name cannot forge a second line.
std::string OneLine(std::string_view text);

// "12 s", "3 min", "5 h", "9 d".
std::string AgeText(uint64_t seconds);

std::string Plural(uint64_t count, std::string_view one);  // "1 file", "2 files"

// Prints "recovered" of an answer: what a killed Bawn had left and this command put right.
void SayRecovered(const Console& console, const Json& answer);
// Names each path that a publish or apply left alone ("left", "refused": [{"path", "why"}]), with
// its reason; true when there is one: then the act was done only in part.
bool SayLeft(const Console& console, const Json& answer);
Result<int> OutJson(const Console& console, const Json& answer);

// Columns of text, each as wide as its widest cell, the last one free.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void Add(std::vector<std::string> row);
  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace bawn::cli
