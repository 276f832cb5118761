#!/usr/bin/env python3
"""The documents name only what exists.

usage: tools/check_docs.py [TREE]      TREE: the repository (default: the one this file is in)

In README.md and the like, and below docs/:
  - a relative link resolves, also its #heading
  - a path of this tree in code exists
  - a `bawn` command and each of its options stand in the table of options
    (tests/golden/table.json, which a unit test holds equal to the program's own)
Prints `file:line: what`, exits 1 when there is any.
"""
import json
import re
import shlex
import sys
from pathlib import Path

TOP_FOLDERS = ("src", "docs", "tests", "tools", "bench", "cmake", "packaging", ".ci")
TABLE = "tests/golden/table.json"

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_SPAN = re.compile(r"`([^`]+)`")
OPTION = re.compile(r"^--?[A-Za-z][A-Za-z-]*$")
# Programs whose options also stand in our documents.
FOREIGN = ("git", "less", "cat", "cmake", "ninja", "ls", "xargs", "build/")


class Table:
    """Commands and options, from the accepted dump of the table."""

    def __init__(self, tree):
        data = json.loads((tree / TABLE).read_text())
        self.commands = {}
        for command in data["commands"]:
            options = {}
            for option in command["options"]:
                takes_value = option["argument"] is not None
                options["--" + option["name"]] = takes_value
                if option["letter"]:
                    options["-" + option["letter"]] = takes_value
            self.commands[command["name"]] = options
        self.usage = {command["name"]: command["usage"] for command in data["commands"]}

    def takes_command(self, verb):
        return "COMMAND [ARGUMENT]" in self.usage[verb]

    def has_anywhere(self, option):
        return option in ("--help", "--version") or any(
            option in options for options in self.commands.values())


def headings(path):
    """GitHub's anchors of a document."""
    found = set()
    for _, line, fenced in lines_of(path.read_text()):
        if not fenced and line.startswith("#"):
            text = line.lstrip("#").strip().lower()
            found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def lines_of(text):
    """(number, line, inside a fence) of each line; the fences themselves are left out."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        yield number, line, fenced


def check_link(tree, document, target):
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    path = (document.parent / name).resolve() if name else document
    if not path.is_relative_to(tree) or not path.exists():
        return f"the link {target} leads nowhere"
    if anchor and anchor not in headings(path):
        return f"{name or 'this document'} has no heading #{anchor}"
    return None


def check_word(tree, word):
    """A word of code that looks like a path of this tree."""
    word = word.strip("\"'(),;:").removeprefix("./")
    first = word.split("/", 1)[0]
    known = first in TOP_FOLDERS and "/" in word or word in ("dev", ".ci/run")
    if not known or any(c in word for c in "*<>{}$"):
        return None
    return None if (tree / word).exists() else f"the path {word} does not exist"


def split(text):
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def check_bawn(table, words):
    """The words after `bawn`."""
    if not words or words[0] in ("--help", "--version", "-h", "-V"):
        return None
    verb = words[0]
    if verb in ("COMMAND", "CMD"):
        return None
    if verb not in table.commands:
        return f"bawn has no command {verb}"
    options = table.commands[verb]
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if word in ("--", "|", "&&", "||", ";", ">"):
            return None
        if not word.startswith("-") or word == "-":
            if table.takes_command(verb):
                return None
            continue
        name = word.split("=", 1)[0]
        if name not in options:
            return f"bawn {verb} has no option {name}"
        if options[name] and "=" not in word:
            at += 1
    return None


def bawn_calls(words):
    """The argument lists of each `bawn` in a line of shell."""
    for at, word in enumerate(words):
        if word == "bawn":
            yield words[at + 1:]
        elif "$(bawn " in word:  # one quoted word of the outer command
            yield split(word.split("$(bawn ", 1)[1].split(")", 1)[0])


def check_code(tree, table, code, inline):
    words = split(code)
    for word in words:
        yield check_word(tree, word)
    foreign = any(word.startswith(FOREIGN) for word in words[:1])
    called = False
    for arguments in bawn_calls(words):
        called = True
        yield check_bawn(table, arguments)
    if inline and words and not called and not foreign and OPTION.match(words[0].split("=")[0]):
        option = words[0].split("=")[0]
        if not table.has_anywhere(option):
            yield f"no command of bawn has the option {option}"


def check_document(tree, table, document):
    text = document.read_text()
    found = []
    prose = []  # the text with fences blanked, so that a span may go on over a line's end
    fenced_lines = {number: line for number, line, fenced in lines_of(text) if fenced}
    kept = {number: line for number, line, fenced in lines_of(text) if not fenced}
    for number in range(1, text.count("\n") + 2):
        prose.append(kept.get(number, ""))
    for number, line in fenced_lines.items():
        found += [(number, one) for one in check_code(tree, table, line, False)]
    prose = "\n".join(prose)
    for pattern, judge in (
            (LINK, lambda target: [check_link(tree, document, target)]),
            (CODE_SPAN, lambda span: check_code(tree, table, span, True))):
        for match in pattern.finditer(prose):
            number = prose.count("\n", 0, match.start()) + 1
            found += [(number, one) for one in judge(match.group(1))]
    for number, complaint in sorted((n, c) for n, c in found if c):
        yield f"{document.relative_to(tree)}:{number}: {complaint}"


def documents(tree):
    yield from sorted(tree.glob("*.md"))
    yield from sorted((tree / "docs").rglob("*.md"))


def check(tree):
    table = Table(tree)
    found = list(documents(tree))
    complaints = [] if found else ["no documents"]
    for document in found:
        complaints += check_document(tree, table, document)
    return complaints


def main():
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    complaints = check(tree)
    for complaint in complaints:
        print(complaint)
    print(f"check_docs: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
