"""The unit tests of the rooms: what CMake registered, run and counted test by test."""
import json
import os
import re
import subprocess

from .marks import Failure

LINE = re.compile(r"^\[\s*(OK|FAILED|SKIPPED)\s*\] (\S+?)(?:, where .*)? \(\d+ ms\)$", re.M)


def discover(build):
    """[(name, command, working directory, extra environment, seconds)] from ctest's own list."""
    out = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                         capture_output=True, check=True, text=True).stdout
    found = []
    for test in json.loads(out)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        extra = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        found.append((test["name"], test.get("command", []), properties["WORKING_DIRECTORY"],
                      extra, int(properties.get("TIMEOUT", 300))))
    return found


def run_one(command, directory, extra):
    """For isolate.run: the results inside as [[name, verdict, text]]."""
    if not command:
        raise Failure("was not built")
    # Shown as it comes: of a program that hangs, the log then ends with the test that did.
    lines = []
    with subprocess.Popen(command, cwd=directory, env=dict(os.environ, **extra), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace") as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    printed = "".join(lines)
    words = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
    parts = [[name, words[word], ""] for word, name in LINE.findall(printed)]
    failed = any(verdict == "failed" for _, verdict, _ in parts)
    if process.returncode != 0 and not failed:
        raise Failure(f"{command[0]}: exit {process.returncode}")
    return parts
