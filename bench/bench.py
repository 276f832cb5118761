#!/usr/bin/env python3
"""Measures every number of SPECIFICATION.md in one go and prints a markdown table.

usage: bench/bench.py --build DIR [--rounds N] [--only ROW[,ROW]]

As an ordinary user; called by root below tools/with-test-user it becomes that user first. What is
compared is interleaved in the same run; figures are medians. Progress goes to stderr.
"""
import argparse
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import rows_latency  # noqa: E402
import rows_memory  # noqa: E402
import rows_workspace  # noqa: E402
from stage import ROUNDS, Row, Stage, say  # noqa: E402


def become_user():
    if os.getuid() == 0 and "BAWN_TEST_UID" in os.environ:
        os.setgroups([])
        os.setresgid(*[int(os.environ["BAWN_TEST_GID"])] * 3)
        os.setresuid(*[int(os.environ["BAWN_TEST_UID"])] * 3)
        return os.environ["BAWN_TEST_HOME"]
    return "/var/tmp"


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    who = "root" if os.getuid() == 0 else "an ordinary user"
    load = os.getloadavg()[0]
    return (f"{os.cpu_count()} x {model}, Linux {platform.release()}, as {who}, load at start "
            f"{load:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    wanted = set(filter(None, options.only.split(",")))

    top = become_user()
    stage = Stage(tempfile.mkdtemp(prefix="bawn-test-bench.", dir=top), options.build,
                  options.rounds)
    lines = [f"Measured on {machine()}.", "", "| what | target | measured | |", "|---|---|---|---|"]
    missed = 0
    try:
        for function in (*rows_latency.ROWS, *rows_workspace.ROWS, *rows_memory.ROWS):
            if wanted and function.__name__ not in wanted:
                continue
            start = time.monotonic()
            try:
                row = function(stage)
            except Exception as error:  # pylint: disable=broad-except
                row = Row(f"`{function.__name__}`", "-", f"not measured: {error}", False)
            missed += row.met is False
            lines.append(row.markdown())
            say(f"{function.__name__}: {row.measured} ({time.monotonic() - start:.0f} s)")
    finally:
        stage.close()
    print("\n".join(lines))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
