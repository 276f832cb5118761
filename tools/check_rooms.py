#!/usr/bin/env python3
"""Holds src/rooms.txt: which room may include which, and which room may use which library.

usage: tools/check_rooms.py [TREE]      TREE: the repository (default: the one this file is in)

Prints `file:line: what, and the rule`, exits 1 when there is any. Three things are checked:
  - #include "room/file.h": the file exists, and its room is listed for the including room;
  - #include <prefix…>: the longest `lib` prefix of rooms.txt names the including room (tests beside
    the code, *_test.cc, may use any library: they talk to the kernel themselves);
  - src/ROOM/CMakeLists.txt: DEPS of bawn_room() are listed for the room, so the linker agrees.
"""
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
BAWN_ROOM = re.compile(r"bawn_room\(\s*([A-Za-z0-9_/]+)(.*?)\)", re.DOTALL)
KEYWORDS = {"SOURCES", "DEPS", "LIBS", "TESTS"}


class Rules:
    """rooms.txt as a value: rooms {name: set of rooms or None for all}, libs {prefix: set}."""

    def __init__(self, path):
        self.path = path
        self.rooms, self.libs, self.errors = {}, {}, []
        for number, raw in enumerate(path.read_text().splitlines(), 1):
            line = raw.split("#")[0].strip()
            if not line:
                continue
            match = re.fullmatch(r"(room|lib)\s+(\S+):\s*(.*)", line)
            if not match:
                self.errors.append(f"{path}:{number}: neither `room NAME: …` nor `lib PREFIX: …`")
                continue
            kind, name, rest = match.groups()
            allowed = None if rest.strip() == "*" else set(rest.split())
            (self.rooms if kind == "room" else self.libs)[name] = allowed
        for name, allowed in list(self.rooms.items()) + list(self.libs.items()):
            for other in sorted((allowed or set()) - set(self.rooms)):
                self.errors.append(f"{path}:1: '{name}' lists '{other}', which is no room")

    def room_of(self, relative):
        """The room of a path below src/: its longest leading directory that is a room."""
        parts = Path(relative).parts[:-1]
        for end in range(len(parts), 0, -1):
            name = "/".join(parts[:end])
            if name in self.rooms:
                return name
        return None

    def lib_prefix(self, header):
        found = [p for p in self.libs if header == p or header.startswith(p)]
        return max(found, key=len, default=None)


def is_generated(src, room, header):
    """A header without a room that the room's own CMakeLists.txt makes."""
    rules = src / room / "CMakeLists.txt"
    return "/" not in header and rules.exists() and header in rules.read_text()


def check_include(rules, src, room, relative, quoted, angled):
    """The complaint about one #include, or None."""
    if quoted:
        target = rules.room_of(quoted)
        if target is None and is_generated(src, room, quoted):
            return None
        if target is None:
            return f'"{quoted}" is in no room of rooms.txt (write "room/file.h")'
        if not (src / quoted).exists():
            return f'"{quoted}" does not exist'
        allowed = rules.rooms[room]
        if target != room and allowed is not None and target not in allowed:
            listed = " ".join(sorted(allowed)) or "nothing"
            return f'room {room} may not include "{quoted}" (rooms.txt gives {room}: {listed})'
        return None
    prefix = rules.lib_prefix(angled)
    if prefix is None or relative.name.endswith("_test.cc"):
        return None
    allowed = rules.libs[prefix]
    if allowed is not None and room not in allowed and rules.rooms[room] is not None:
        return (f"<{angled}> is for {' '.join(sorted(allowed))} only (rooms.txt, lib {prefix}); "
                f"use a wrapper of that room")
    return None


def check_cmake(rules, path, text):
    for match in BAWN_ROOM.finditer(text):
        room, words, section = match.group(1), match.group(2).split(), ""
        if room not in rules.rooms:
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: bawn_room({room}) is no room of rooms.txt"
            continue
        for word in words:
            if word in KEYWORDS:
                section = word
            elif section == "DEPS":
                allowed = rules.rooms[room]
                name = word if word in rules.rooms else word.replace("_", "/")
                if allowed is not None and name not in allowed:
                    line = text.count("\n", 0, match.start()) + 1
                    yield f"{path}:{line}: room {room} may not link {word} (rooms.txt)"


def check(tree):
    """All complaints about one tree, as lines."""
    src = tree / "src"
    rules = Rules(src / "rooms.txt")
    complaints = list(rules.errors)
    for path in sorted(src.rglob("*")):
        if path.suffix not in (".cc", ".h", ".c") or not path.is_file():
            continue
        relative = path.relative_to(src)
        room = rules.room_of(str(relative))
        if room is None:
            complaints.append(f"{path}:1: is in no room of rooms.txt")
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            complaint = check_include(rules, src, room, relative, match.group(1), match.group(2))
            if complaint:
                complaints.append(f"{path}:{number}: {complaint}")
    for path in sorted(src.rglob("CMakeLists.txt")):
        complaints += check_cmake(rules, path, path.read_text())
    return complaints


def main():
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    complaints = check(tree)
    for line in complaints:
        print(line)
    print(f"check_rooms: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
