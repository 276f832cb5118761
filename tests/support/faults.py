"""Runs a command once with one system call failing, or with one process killed at one, and looks
at what that left: see tests/faults/inject.c for how a point is named.
"""
import collections
import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time

from . import processes, syscalls
from .marks import Failure, check

HANG_SECONDS = 10
WRITER_BACK_SECONDS = 65

Point = collections.namedtuple("Point", "process number occurrence program name action")


def told(point):
    what = point.action
    if what != "kill":
        what = errno.errorcode[int(what)]
    return (f"{point.process} ({point.program}) {point.name}#{point.occurrence}"
            f" -> {what}   [--at {at(point)}]")


def at(point):
    return f"{point.process}:{point.number}:{point.occurrence}:{point.action}"


class Ended:
    """How the command with the fault ended. `code` is 128+n when it died by signal n."""

    def __init__(self, point, code, out, err, hit, pid1):
        self.point, self.code, self.out, self.err, self.hit = point, code, out, err, hit
        self.pid1 = pid1

    @property
    def killed(self):
        """The fault ended the command itself, so it could not say anything."""
        return self.hit and self.point.action == "kill" and self.point.process == "0"

    @property
    def job_killed(self):
        """The fault ended the process that was about to become the job's command."""
        point = self.point
        return (self.hit and point.action == "kill" and point.program == "bawn-init"
                and self.pid1 is not None and point.process.startswith(f"{self.pid1}."))

    def told(self):
        return (f"{told(self.point)}\n  code {self.code}\n  out: {self.out[:1500]}\n"
                f"  err: {self.err[:1500]}")


def as_failed(ended):
    """The same for what judges a command that may have failed, whatever this one was."""
    return Ended(ended.point, ended.code or 1, ended.out, ended.err, ended.hit, ended.pid1)


class Place:
    """A tree, a state directory and a temporary directory of one point's own."""

    def __init__(self, directory, build, pid1=None):
        self.directory, self.pid1 = directory, pid1
        self.bawn_path = f"{build}/bin/bawn"
        self.inject = f"{build}/tests/inject"
        self.tree, self.state = f"{directory}/tree", f"{directory}/state"
        self.tmp, self.home = f"{directory}/tmp", f"{directory}/home"

    def environment(self):
        return dict(os.environ, BAWN_STATE_DIR=self.state, TMPDIR=self.tmp, HOME=self.home)

    def start(self, argv):
        # pylint: disable=consider-using-with
        return subprocess.Popen(argv, cwd=self.tree, env=self.environment(), text=True,
                                errors="replace", stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def command(self, *argv, seconds=60):
        """(code, out, err) of a command without a fault."""
        with self.start(argv) as process:
            try:
                out, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired as late:
                process.kill()
                raise Failure(f"no end after {seconds} s: {argv}") from late
        return process.returncode, out, err

    def bawn(self, *argv):
        return self.command(self.bawn_path, *argv)

    def must(self, *argv):
        """What a command without a fault prints; it has to succeed."""
        code, out, err = self.command(*argv)
        check(code == 0, f"$ {' '.join(argv)}\n  code {code}\n  out: {out}\n  err: {err}")
        return out

    def git(self, *argv):
        return self.must("git", *argv)

    def record(self, argv, codes=(0,)):
        """Every point of a command: [(process, number, occurrence, program)]."""
        code, _, err = self.command(self.inject, "--record", f"{self.directory}/record", "--",
                                    self.bawn_path, *argv)
        check(code in codes, f"recorded {argv}: code {code}\n  err: {err}")
        return self.recorded()

    def recorded(self):
        with open(f"{self.directory}/record", encoding="ascii", errors="replace") as file:
            lines = [line.split() for line in file]
        return [(p, int(n), int(o), program) for p, n, o, program, own in lines
                if own == "1" and program.startswith("bawn")]

    def fault(self, point, argv):
        report = f"{self.directory}/report"
        process = self.start([self.inject, "--at", at(point), "--report", report, "--",
                              self.bawn_path, *argv])
        out, err = wait_for(process, point)
        with open(report, encoding="ascii") as file:
            hit = file.read().startswith("hit")
        return Ended(point, process.returncode, out, err, hit, self.pid1)


class Begun:
    """A command whose processes outlive it: looked at when it has ended, and again when they have.
    Without a point it is recorded."""

    def __init__(self, place, point, argv):
        self.place, self.point, self.report = place, point, f"{place.directory}/report"
        how = ["--at", at(point)] if point else ["--record", f"{place.directory}/record"]
        self.process = place.start([place.inject, *how, "--report", self.report, "--",
                                    place.bawn_path, *argv])
        self.out = self.err = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            for pid in processes.traced(self.process.pid) + [self.process.pid]:
                kill(pid)
            self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def command_ended(self):
        """How the command itself ended; what it left may still run."""
        self.wait(lambda: os.path.exists(self.report))
        return self.ended()

    def all_ended(self):
        self.wait(lambda: self.process.poll() is not None)
        return self.ended()

    def wait(self, condition):
        deadline = time.monotonic() + HANG_SECONDS
        while not condition():
            check(time.monotonic() < deadline, f"no end after {HANG_SECONDS} s; alive: "
                  f"{[told_process(pid) for pid in processes.traced(self.process.pid)]}")
            time.sleep(0.002)

    def ended(self):
        # What was printed is less than a pipe holds, and waits there.
        self.out += rest_of(self.process.stdout)
        self.err += rest_of(self.process.stderr)
        with open(self.report, encoding="ascii") as file:
            word, code = file.read().split()
        return Ended(self.point, int(code), self.out, self.err, word == "hit",
                     self.place.pid1)


def rest_of(pipe):
    os.set_blocking(pipe.fileno(), False)
    try:
        return os.read(pipe.fileno(), 1 << 16).decode(errors="replace")
    except BlockingIOError:
        return ""


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def told_process(pid):
    return (f"{pid} {processes.comm_of(pid)}: {(processes.status_of(pid) or '???')[2]} in "
            f"{waiting_in(pid)}")


def wait_for(process, point):
    """Output of the injector, which ends when all processes of the command have ended."""
    start = time.monotonic()
    while True:
        try:
            return process.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            pids = processes.traced(process.pid)
            lines = [told_process(pid) for pid in pids]
            late = time.monotonic() - start
            # A busy disk may hold a process (state D) for that long; nothing else may.
            disk = any((processes.status_of(pid) or "?")[0] == "D" for pid in pids)
            if disk and late < WRITER_BACK_SECONDS:
                continue
            for pid in pids + [process.pid]:
                kill(pid)
            out, err = process.communicate()
            raise Failure(f"{told(point)}\n  no end after {late:.0f} s; alive: {lines}\n"
                          f"  out: {out[:500]}\n  err: {err[:500]}") from None


def waiting_in(pid):
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            number = file.read().split()[0]
        return syscalls.names().get(int(number), number)
    except (OSError, ValueError):
        return "?"


def points(recorded, kinds):
    """All points of a record for `kinds` of {"error", "kill"}, in order."""
    names = syscalls.names()
    for process, number, occurrence, program in recorded:
        name = names.get(number, str(number))
        if "error" in kinds:
            for code in syscalls.failures(name):
                yield Point(process, number, occurrence, program, name, str(code))
        if "kill" in kinds:
            yield Point(process, number, occurrence, program, name, "kill")


def spread(found, count, salt):
    """`count` of the points, evenly over the command, the same in every run; `salt` moves them, so
    that two scenes do not look at the same calls of the same start."""
    if len(found) <= count:
        return found
    step = len(found) / count
    return [found[int((number + (salt % 16) / 16) * step)] for number in range(count)]


def copy(source, target):
    shutil.copytree(source, target, symlinks=True)


def remove(directory):
    shutil.rmtree(directory, ignore_errors=True)
    if os.path.exists(directory):  # something in it has no mode
        subprocess.run(["chmod", "-R", "u+rwX", directory], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(directory, ignore_errors=True)


def wait_for_write_back(place):
    """Until the changes are on the disk: what the command then finds is the same every time."""
    deadline = time.monotonic() + WRITER_BACK_SECONDS
    while any(os.path.exists(f"{sandbox.path}/durable.pending")
              for sandbox in scan(f"{place.state}/sb")):
        check(time.monotonic() < deadline, "the write-back did not end")
        time.sleep(0.005)


# -- what must hold after every fault, whatever the command was ------------------------------------

ANSWERS = (0, 1, 2, 125, 126, 127)


def check_answer(ended):
    """A failure is one of our exit codes and says why in lines of our kind; nothing crashes."""
    if ended.killed:
        check(ended.code == 128 + signal.SIGKILL, f"not killed?\n{ended.told()}")
        return
    lines = ended.err.splitlines()
    if ended.job_killed:  # as if its command had been: a signal is how the job ended
        check(ended.code in (*ANSWERS, 128 + signal.SIGKILL), f"exit code\n{ended.told()}")
        return
    check(ended.code in ANSWERS, f"exit code\n{ended.told()}")
    strange = [line for line in lines if not line.startswith(("bawn: ", "  "))]
    check(not strange, f"lines of another kind: {strange}\n{ended.told()}")
    if ended.code != 0:
        said = any(line.startswith("bawn: ") for line in lines) or ended.out.startswith("not ready")
        # The fault may have been the saying itself.
        mute = ended.hit and ended.point.process == "0" and ended.point.name == "write"
        check(said or mute, f"no word why\n{ended.told()}")


def check_clean(place):
    """After the last sandbox of a place is gone: nothing of it but records."""
    found = [f"temporary entry {entry.name}" for entry in os.scandir(place.tmp)]
    found += left_in_state(place.state)
    found += left_in_git(f"{place.tree}/.git")
    check(not found, "left behind:\n  " + "\n  ".join(found))


# What stays of an ended sandbox: its record, and what an apply replaced (for `apply --undo`).
RECORDS = {"lock", "meta.json", "meta.lock", "jobs", "decisions.json", "journal", "remembered.json"}


def is_held(path):
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def wait_for_what_follows(state):
    """What a publish or apply leaves behind its answer holds the marker as long as it works: then
    the marker goes. One that nobody holds is what a killed command left."""
    for _ in range(500):
        if not any(is_held(entry.path) for entry in scan(f"{state}/running")):
            return
        time.sleep(0.02)


def left_in_state(state):
    wait_for_what_follows(state)
    found = [f"marker {entry.name}" for entry in scan(f"{state}/running")]
    for sandbox in scan(f"{state}/sb"):
        if not sandbox.name.startswith("sb_"):
            found.append(f"half a sandbox {sandbox.name}")
            continue
        found += [f"{sandbox.name}/{entry.name}" for entry in scan(sandbox.path)
                  if entry.name not in RECORDS]
    for base, _, files in os.walk(state):
        found += [f"temporary file {base}/{name}" for name in files
                  if name.startswith(".tmp_") or name.endswith(".new")]
    return found


def left_in_git(git):
    found = [f"pin {name}" for _, _, names in os.walk(f"{git}/refs/bawn") for name in names]
    found += [f"pinned index {entry.name}" for entry in scan(f"{git}/bawn")]
    for base, names, files in os.walk(git):
        found += [f"{base}/{name}" for name in files + names
                  if name.endswith(".lock") or name.startswith(("tmp_", ".tmp_", "pack_", "bawn-"))]
    packs = {entry.name for entry in scan(f"{git}/objects/pack")}
    found += [f"a pack without an index {name}" for name in packs
              if name.endswith(".pack") and f"{name[:-5]}.idx" not in packs]
    return found


def scan(directory):
    try:
        return list(os.scandir(directory))
    except FileNotFoundError:
        return []


def listed(place):
    """What `bawn list` says after the fault: it recovers, and must always work."""
    wait_for_what_follows(place.state)
    code, out, err = place.bawn("list", "--json")
    check(code == 0, f"bawn list: code {code}\n  out: {out}\n  err: {err}")
    return json.loads(out)
