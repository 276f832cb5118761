"""tests/CANNOT_RUN.md: the only tests that may be skipped, each with what the machine lacks.

A line `- \\`NAME\\`: why` allows the skip of the tests that the shell pattern NAME matches. A test
that skips without a line fails; a line whose test could run fails too, so the list stays true.
"""
import fnmatch
import re

LINE = re.compile(r"^- `([^`]+)`: (\S.*)$")


class CannotRun:
    def __init__(self, path):
        self.patterns = {}  # pattern -> [reason, times skipped, times run]
        with open(path, encoding="utf-8") as file:
            for line in file:
                match = LINE.match(line.rstrip())
                if match:
                    self.patterns[match.group(1)] = [match.group(2), 0, 0]

    def note(self, name, skipped):
        """Counts one result; True when a skip of it is allowed."""
        allowed = False
        for pattern, entry in self.patterns.items():
            if fnmatch.fnmatchcase(name, pattern):
                entry[1 if skipped else 2] += 1
                allowed = True
        return allowed

    def wrong_lines(self):
        """Lines whose test ran: what they claim is not so."""
        return [pattern for pattern, (_, _, ran) in self.patterns.items() if ran]
