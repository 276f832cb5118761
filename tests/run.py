#!/usr/bin/env python3
"""Runs every test as root and as an ordinary user, and checks after each one that nothing is left.

usage: tests/run.py --build DIR [--build DIR…] [--filter REGEX] [--identity root|user] [--accept]

The first DIR gets everything: unit tests and the folders of tests/ (FOLDERS). Each further one (a
sanitizer build) gets the unit tests that can run with one. The last line is
`N passed, N failed, N skipped`; the exit code is 0 only when nothing failed.

A test is a function test_*(box) of a file tests/FOLDER/test_*.py; marks and checks
are in support/marks.py, the box (a bawn to run, trees to run it on) in support/box.py.
"""
import argparse
import importlib.util
import os
import re
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from support import isolate, processes, units  # noqa: E402
from support.box import Box  # noqa: E402
from support.cannot_run import CannotRun  # noqa: E402

DEFAULT_SECONDS = 120
FOLDERS = ("integration", "escape", "faults", "work", "machine")


class Test:
    def __init__(self, name, function, names=("root", "user"), seconds=DEFAULT_SECONDS):
        self.name, self.function, self.identities, self.seconds = name, function, names, seconds


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def python_tests(folder, build, accept, first):
    for path in sorted((HERE / folder).glob("test_*.py")):
        module = load(path)
        for name, function in list(vars(module).items()):
            if not name.startswith("test_") or not callable(function):
                continue
            if getattr(function, "accept", False) and not accept:
                continue
            if getattr(function, "release_only", False) and not first:
                continue
            yield Test(f"{folder}/{path.stem[5:]}/{name[5:]}",
                       lambda directory, f=function: f(Box(directory, build)),
                       getattr(function, "identities", ("root", "user")),
                       getattr(function, "timeout", DEFAULT_SECONDS))


def unit_tests(build):
    for name, command, directory, extra, seconds in units.discover(build):
        yield Test(f"unit/{name}",
                   lambda _, c=command, d=directory, e=extra: units.run_one(c, d, e),
                   seconds=seconds)


def all_tests(builds, accept):
    for number, build in enumerate(builds):
        label = Path(build).name
        first = number == 0
        found = list(unit_tests(build))
        if first:
            for folder in FOLDERS:
                found += python_tests(folder, build, accept, first)
        for test in found:
            test.name = f"{label}/{test.name}"
            yield test


class Totals:
    """Counts and prints. A skip is a failure unless CANNOT_RUN.md allows it."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.cannot_run = CannotRun(HERE / "CANNOT_RUN.md")

    def add(self, name, verdict, text, seconds=None):
        if self.cannot_run.note(name, verdict == "skipped") or verdict != "skipped":
            pass
        else:
            verdict, text = "failed", f"skipped without a line in tests/CANNOT_RUN.md: {text}"
        if verdict == "passed":
            self.passed += 1
        elif verdict == "skipped":
            self.skipped += 1
        else:
            self.failed += 1
            self.failures.append(name)
        took = "" if seconds is None else f" ({seconds:.2f} s)"
        print(f"{verdict.upper():7} {name}{took}", flush=True)
        if text and verdict != "passed":
            print("        " + text.replace("\n", "\n        "), flush=True)

    def add_outcome(self, name, outcome):
        """A unit test program counts as its tests; what went wrong around them as one more."""
        bad_inside = False
        for part, verdict, text in outcome.parts:
            self.add(f"{name}/{part}", verdict, text)
            bad_inside |= verdict == "failed"
        if not outcome.parts or outcome.verdict == "failed":
            self.add(name, outcome.verdict, outcome.text, outcome.seconds)
        elif bad_inside:
            print("        " + outcome.text.replace("\n", "\n        "), flush=True)

    def not_run(self, name, why):
        self.skipped += 1
        print(f"NOT RUN {name}: {why}", flush=True)

    def finish(self):
        for pattern in self.cannot_run.wrong_lines():
            self.failed += 1
            self.failures.append(f"CANNOT_RUN.md: {pattern}")
            print(f"FAILED  CANNOT_RUN.md names `{pattern}`, but it could run: remove the line")
        if self.failures:
            print("\nfailed:\n  " + "\n  ".join(self.failures))
        print(f"\n{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 0 if self.failed == 0 and self.passed > 0 else 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", action="append", required=True, type=os.path.abspath)
    parser.add_argument("--filter", default=os.environ.get("BAWN_FILTER", ""))
    parser.add_argument("--identity", choices=("root", "user"))
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def run_all(options, totals):
    present = {i.name: i for i in isolate.identities()}
    wanted = [options.identity] if options.identity else ["root", "user"]
    for test in all_tests(options.build, options.accept):
        for name in wanted:
            full = f"{test.name} [{name}]"
            if name not in test.identities or not re.search(options.filter, full):
                continue
            if options.list:
                print(full)
            elif name not in present:
                need = "root" if name == "root" else "the user of tools/with-test-user"
                totals.not_run(full, f"needs {need}")
            else:
                outcome = isolate.run(present[name], test.function, test.seconds)
                totals.add_outcome(full, outcome)


def main():
    options = arguments()
    # waited for with sigtimedwait (support/isolate.py); the child sets its own mask.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    processes.become_subreaper()
    totals = Totals()
    start = time.monotonic()
    try:
        run_all(options, totals)
    finally:
        processes.kill_all_below()
    if options.list:
        return 0
    print(f"\n{time.monotonic() - start:.0f} s")
    return totals.finish()


if __name__ == "__main__":
    sys.exit(main())
