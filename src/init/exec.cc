#include "init/exec.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "sys/files.h"

namespace bawn::init {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::string_view SearchPath(const std::vector<std::string>& env) {
  for (std::string_view entry : env) {
    if (entry.starts_with("PATH=")) return entry.substr(5);
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

// The candidates of a name, in order: itself when it holds a slash.
std::vector<std::string> Candidates(const std::string& name, const std::vector<std::string>& env) {
  if (name.find('/') != name.npos) return {name};
  std::vector<std::string> candidates;
  std::string_view path = SearchPath(env);
  while (true) {
    size_t end = path.find(':');
    std::string_view directory = path.substr(0, end);
    candidates.push_back(directory.empty() ? "./" + name : std::string(directory) + "/" + name);
    if (end == path.npos) return candidates;
    path.remove_prefix(end + 1);
  }
}

// What a "#!" line names, or empty.
std::string ScriptInterpreter(const std::string& program) {
  Result<UniqueFd> fd = sys::Openat2(AT_FDCWD, program, O_RDONLY | O_NONBLOCK);
  std::array<char, 256> head = {};
  if (!fd) return {};
  Result<size_t> size = sys::Read(fd->get(), head.data(), head.size());
  if (!size) return {};
  std::string_view line(head.data(), *size);
  if (!line.starts_with("#!")) return {};
  line = line.substr(2, line.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line.substr(0, line.find_first_of(" \t\r")));
}

ExecFailure Explain(int sys_errno, const std::string& program, const std::string& name) {
  std::string shown = EscapeName(program);
  if (sys_errno != ENOENT) return {sys_errno, "execve(" + shown + "): " + ErrnoName(sys_errno)};
  if (!sys::Fstatat(AT_FDCWD, program, 0))
    return {ENOENT, EscapeName(name) + ": not found in the view"};
  std::string interpreter = ScriptInterpreter(program);
  if (interpreter.empty()) return {ENOENT, shown + ": its program loader is not in the view"};
  return {ENOENT, shown + ": its interpreter " + EscapeName(interpreter) + " is not in the view"};
}

// A file without a "#!" line is a script of the shell, as in execvp(3).
int ExecOne(const std::string& program, std::vector<char*>& argv, std::vector<char*>& env) {
  execve(program.c_str(), argv.data(), env.data());
  if (errno != ENOEXEC) return errno;
  std::string shell = "/bin/sh";
  std::vector<char*> script = {shell.data(), const_cast<char*>(program.c_str())};
  script.insert(script.end(), argv.begin() + 1, argv.end());
  execve(shell.c_str(), script.data(), env.data());
  return ENOEXEC;
}

}  // namespace

ExecFailure ExecPayload(const std::vector<std::string>& argv, const std::vector<std::string>& env) {
  std::vector<char*> arguments = Pointers(argv), environment = Pointers(env);
  // The first failure other than "not there" is the one to report, as a shell does; a script whose
  // interpreter is missing gives ENOENT too, so a file that exists is remembered.
  ExecFailure failure;
  for (const std::string& program : Candidates(argv[0], env)) {
    int error = ExecOne(program, arguments, environment);
    ExecFailure seen = Explain(error, program, argv[0]);
    bool absent = error == ENOTDIR || (error == ENOENT && !sys::Fstatat(AT_FDCWD, program, 0));
    if (failure.sys_errno == 0 || (failure.sys_errno == ENOENT && !absent)) failure = seen;
    if (error != ENOENT && error != ENOTDIR && error != EACCES) return seen;
  }
  return failure;
}

}  // namespace bawn::init
