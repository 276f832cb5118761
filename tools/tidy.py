#!/usr/bin/env python3
"""The style rules that a machine can hold (sizes, banned calls, comments that name files).

usage: tools/tidy.py [TREE]      TREE: the repository (default: the one this file is in)

Prints `file:line: what, and what to do`, exits 1 when there is any; a file past 500 lines is only a
warning. What each rule is for stands beside it.
"""
import ast
import re
import subprocess
import sys
from pathlib import Path

import cpp_text

COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70
FILE_LINES_WARN = 500
FILE_LINES_MAX = 800
TEST_LINES_MAX = 1200

FOLDERS = ("src", "tests", "tools", "bench", "cmake", "docs", "packaging")
CPP = (".cc", ".h", ".c")

# (pattern on code without comments and strings, rooms where it may stand, tests may, instead)
BANNED = (
    (r"(?<![\w.>])(?:std::|::)?system\s*\(", (), True,
     "sys::Spawn with an argument vector: system() starts a shell on a string"),
    (r"(?<![\w.>])(?:::)?popen\s*\(", (), True,
     "sys::Spawn with pipes: popen() starts a shell on a string"),
    (r"(?<![\w.>:])(?:::)?v?fork\s*\(\s*\)", ("sys", "init", "contain"), True,
     "sys::Spawn or sys::Clone3: a fork elsewhere copies memory and descriptors unseen"),
    (r"\b(?:std::|::)?(?:strto(?:l|ul|ll|ull|d|f)|atoi|atol|atoll|atof)\s*\(", (), True,
     "std::from_chars: it tells an error from a zero and ignores the locale"),
    (r"\bstd::sto(?:i|l|ul|ll|ull|d|f)\s*\(", (), True,
     "std::from_chars: std::sto* throws and takes trailing text"),
    (r"\b(?:std::)?filesystem::remove_all\s*\(", (), True,
     "workspace::RemoveTree: descriptor-relative, follows nothing, knows mode 000"),
    (r"(?<![\w.>])(?:std::|::)?(?:strcpy|strcat|sprintf|vsprintf|gets)\s*\(", (), False,
     "std::string or a bounded call: no length, no bound"),
    (r"(?<![\w.>])(?:::)?(?:tmpnam|tempnam|mktemp)\s*\(", (), False,
     "O_TMPFILE or mkstemp/mkdtemp: a name that is not created is a race"),
    (r"(?<![\w.>])(?:::)?chroot\s*\(", (), True,
     "pivot_root in contain/: a chroot is left by the double chroot"),
    (r"(?<![\w.>])(?:std::|::)?(?:set|long)jmp\s*\(", (), False,
     "Result: a jump skips destructors"),
    (r"\b(?:std::|::)?s?rand\s*\(\s*\w*\s*\)", (), True,
     "base/ids.h: ids are unguessable"),
    (r"\bthrow\b(?!\s*\()", (), False,
     "Result: no exception crosses a room, first-party code throws none"),
)

ENFORCER_ROOMS = ("contain", "init", "launch")
# Calls that put a wall up or end a process: who makes one is an enforcer.
ENFORCING = re.compile(
    r"\b(?:MoveMount|SetMountAttributes|UmountDetach|PivotRoot|Clone3|Unshare|Landlock\w*|"
    r"LoadSeccomp|EnterRuleset|Prctl|Capset|DropCapabilities|Setrlimit|Prlimit|PidfdSendSignal|"
    r"SetResUid|SetResGid|Setgroups|CloseRange)\s*\(|\b(?:prctl|capset|setrlimit|kill|setuid)\s*\(")
ENFORCER_WORDS = ("Decided in", "Enforced by", "Recorded as")

# Names that comments use for files of a payload's project, never for files of this tree.
FOREIGN = {"conftest.py", "setup.py", "requirements.txt"}
NAMED_FILE = re.compile(
    r"(?<![\w/.<{$*-])((?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_-]+\.(?:cc|h|py|md|txt))\b")
TODO = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))")


def listed_files(tree):
    """Tracked and new files, without what .gitignore names; without git, all that is not made."""
    git = ["git", "-c", "safe.directory=*", "-C", str(tree)]
    try:
        out = subprocess.run(git + ["ls-files", "-co", "--exclude-standard", "-z"],
                             capture_output=True, check=True).stdout
        names = [n.decode(errors="surrogateescape") for n in out.split(b"\0") if n]
    except (OSError, subprocess.CalledProcessError):
        names = [str(p.relative_to(tree)) for p in tree.rglob("*")]
    for name in sorted(set(names)):
        made = "__pycache__/" in name
        if made or name.startswith(("build/", ".git/", "tests/fuzz/corpus/")):
            continue
        path = tree / name
        if path.is_file() and not path.is_symlink():
            yield path, name


def is_test(name):
    base = name.rsplit("/", 1)[-1]
    return (name.startswith("tests/") or base.startswith("test_") or
            re.search(r"_test(_support)?\.(cc|h|py)$", base) is not None)


def check_size(name, text):
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX and "http" not in line:
            yield number, f"{len(line)} columns; at most {COLUMNS_MAX}"
    limit = TEST_LINES_MAX if is_test(name) else FILE_LINES_MAX
    if len(lines) > limit:
        yield 1, f"{len(lines)} lines; at most {limit}: a file is about one thing"


def check_functions(name, text):
    if name.endswith(CPP):
        found = cpp_text.functions(text)
    else:
        tree = ast.parse(text)
        found = [(n.lineno, n.end_lineno, n.name) for n in ast.walk(tree)
                 if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for first, last, head in found:
        length = last - first + 1
        if length > FUNCTION_LINES_MAX:
            yield first, f"a function of {length} lines; at most {FUNCTION_LINES_MAX}: {head[:60]}"


def room_of(name):
    parts = name.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else ""


def check_banned(name, text):
    code = cpp_text.code_only(text)
    for pattern, rooms, tests_may, instead in BANNED:
        tests = tests_may and is_test(name)
        if room_of(name) in rooms or tests or "payloads/" in name:
            continue
        if name.endswith(".c") and "std::" in instead:
            continue  # the replacement is C++
        if "throw" in pattern and "consteval" in code:
            continue  # there a throw is a compile error
        for match in re.finditer(pattern, code):
            call = match.group(0).strip(" (")
            yield code.count("\n", 0, match.start()) + 1, f"'{call}' is banned: {instead}"


def check_todo(name, text):
    text = cpp_text.comments_only(text) if name.endswith(CPP) else text
    for match in TODO.finditer(text):
        yield (text.count("\n", 0, match.start()) + 1,
               f"{match.group(1)} without an issue; write {match.group(1)}(#123) or do it")


def check_named_files(tree, name, text, basenames):
    """A comment that names a file must name one that exists: documents drift, this one is held."""
    comments = cpp_text.comments_only(text)
    roots = (tree, tree / "src", tree / "src" / room_of(name), tree / "docs",
             (tree / name).parent, Path("/usr/include"))
    for match in NAMED_FILE.finditer(comments):
        named = match.group(1).removeprefix("uapi/")  # the kernel's tree; installed without it
        if named in FOREIGN or any((root / named).exists() for root in roots):
            continue
        if "/" not in named and named in basenames:
            continue
        if named.endswith(".h") and any((p / named).exists() for p in
                                        Path("/usr/include").glob("*-linux-gnu")):
            continue
        yield (comments.count("\n", 0, match.start()) + 1,
               f"the comment names {named}, which does not exist")


def check_enforcer(tree, name, text):
    if room_of(name) not in ENFORCER_ROOMS or not name.endswith(".cc") or is_test(name):
        return
    if name.rsplit("/", 1)[-1].startswith("probe"):
        return  # tries walls in children that end; the enforcers are elsewhere
    match = ENFORCING.search(cpp_text.code_only(text))
    if not match:
        return
    header = (tree / name).with_suffix(".h")
    told = text + (header.read_text() if header.exists() else "")
    lacking = [word for word in ENFORCER_WORDS if word not in told]
    if lacking:
        line = text.count("\n", 0, match.start()) + 1
        yield line, (f"enforces ({match.group(0).strip(' (')}) but neither it nor its header says: "
                     f"{', '.join(lacking)}")


def check_file(tree, path, name, basenames):
    """Yields (line, complaint) for one file."""
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        yield 1, "is not UTF-8 text"
        return
    cpp, python = name.endswith(CPP), name.endswith(".py")
    if cpp or python or name.endswith((".sh", ".cmake", "CMakeLists.txt")) or name == "dev":
        yield from check_size(name, text)
    if cpp or python:
        yield from check_functions(name, text)
        if path.name != "tidy.py" and path.name != "tidy_test.py":
            yield from check_todo(name, text)
    if cpp:
        yield from check_banned(name, text)
        if not is_test(name):  # there, names are a payload's
            yield from check_named_files(tree, name, text, basenames)
        yield from check_enforcer(tree, name, text)


def check(tree):
    """(complaints, warnings) about one tree, as lines."""
    files = [(path, name) for path, name in listed_files(tree)
             if name.split("/")[0] in FOLDERS or name == "dev"]
    basenames = {path.name for path, _ in listed_files(tree)}
    complaints, warnings = [], []
    for path, name in files:
        for line, complaint in check_file(tree, path, name, basenames):
            complaints.append(f"{path}:{line}: {complaint}")
        if name.endswith(CPP + (".py",)) and not is_test(name):
            count = len(path.read_text(errors="replace").splitlines())
            if count > FILE_LINES_WARN:
                warnings.append(f"{path}:1: warning: {count} lines; justify past {FILE_LINES_WARN}")
    return complaints, warnings


def main():
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    complaints, warnings = check(tree)
    for line in warnings + complaints:
        print(line)
    print(f"tidy: {len(complaints)} complaints, {len(warnings)} warnings")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
