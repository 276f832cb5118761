"""Runs one test in a process of its own: as root or as the ordinary user, with private directories.

    <dir>/home   HOME            <dir>/state  BAWN_STATE_DIR
    <dir>/tmp    TMPDIR          <dir>/run    XDG_RUNTIME_DIR
    <dir>/work   where the test starts and makes its trees

The directory is on a disk (/home or /var/tmp), because an overlay on a tmpfs is another thing than
what people have.
"""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from . import leaks, processes
from .marks import Failure, Skip

PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


class Identity:
    """Who a test runs as. `home` is where its directories are made."""

    def __init__(self, name, uid, gid, user, home):
        self.name, self.uid, self.gid, self.user, self.home = name, uid, gid, user, home


def identities():
    """What this runner can be: root and the user of tools/with-test-user, or just the caller."""
    caller = os.environ.get("USER", "user")
    if os.getuid() != 0:
        return [Identity("user", os.getuid(), os.getgid(), caller, "/var/tmp")]
    found = [Identity("root", 0, 0, "root", "/home")]
    if "BAWN_TEST_UID" in os.environ:
        found.append(Identity("user", int(os.environ["BAWN_TEST_UID"]),
                              int(os.environ["BAWN_TEST_GID"]), os.environ["BAWN_TEST_USER"],
                              os.environ["BAWN_TEST_HOME"]))
    return found


def environment(identity, directory):
    return {
        "PATH": PATH, "HOME": f"{directory}/home", "USER": identity.user,
        "LOGNAME": identity.user, "SHELL": "/bin/sh", "TMPDIR": f"{directory}/tmp",
        "XDG_RUNTIME_DIR": f"{directory}/run", "BAWN_STATE_DIR": f"{directory}/state",
        "LANG": "C.UTF-8", "TERM": "dumb", "GIT_CONFIG_NOSYSTEM": "1",
        # A sanitizer's complaint must be a failure of its own, not of what waits for the output.
        "ASAN_OPTIONS": "abort_on_error=1:detect_stack_use_after_return=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }


def make_directory(identity):
    directory = tempfile.mkdtemp(prefix="bawn-test.", dir=identity.home)
    for name in ("home", "tmp", "run", "work"):
        os.mkdir(f"{directory}/{name}", 0o700)
    os.chmod(directory, 0o755 if identity.uid == 0 else 0o700)
    # As /tmp is: what a test opens to another user there can be reached by that user.
    os.chmod(f"{directory}/tmp", 0o711)
    if os.getuid() == 0:
        for base, names, _ in os.walk(directory):
            os.chown(base, identity.uid, identity.gid)
    return directory


def remove_directory(directory):
    """Also what a payload made unreadable. Nothing is mounted there: the leak check has said so."""
    subprocess.run(["chmod", "-R", "u+rwX", directory], stderr=subprocess.DEVNULL, check=False)
    shutil.rmtree(directory, ignore_errors=True)


def become(identity, directory):
    """In the child: own session, own ids, own environment, default signals."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if os.getuid() == 0 and identity.uid != 0:
        os.setgroups([])
        os.setresgid(identity.gid, identity.gid, identity.gid)
        os.setresuid(identity.uid, identity.uid, identity.uid)
    os.umask(0o022)
    os.environ.clear()
    os.environ.update(environment(identity, directory))
    os.chdir(f"{directory}/work")


class Outcome:
    """verdict: "passed" | "failed" | "skipped"; text: what to say; parts: results inside it."""

    def __init__(self, verdict, text="", parts=None, seconds=0.0):
        self.verdict, self.text, self.parts, self.seconds = verdict, text, parts or [], seconds


def child(identity, directory, function, log, report):
    """Never returns: runs `function(directory)` and writes its verdict as JSON to fd `report`."""
    answer = {"verdict": "passed", "text": "", "parts": []}
    try:
        become(identity, directory)
        os.dup2(log, 1)
        os.dup2(log, 2)
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        answer["parts"] = function(directory) or []
    except Skip as skip:
        answer.update(verdict="skipped", text=str(skip))
    except Failure as failure:
        line = traceback.extract_tb(failure.__traceback__)
        where = [f"{f.filename}:{f.lineno}" for f in line if "/support/" not in f.filename]
        answer.update(verdict="failed", text=f"{failure}\n  at {' < '.join(reversed(where))}")
    except BaseException:  # pylint: disable=broad-except
        answer.update(verdict="failed", text=traceback.format_exc())
    try:
        sys.stdout.flush()
        os.write(report, json.dumps(answer).encode())
    finally:
        os._exit(0)


def wait_for(pid, read, seconds):
    """The child's answer; None when the time is over. Reaps orphans meanwhile."""
    deadline = time.monotonic() + seconds
    data, ended = b"", False
    os.set_blocking(read, False)
    while time.monotonic() < deadline and not ended:
        try:
            chunk = os.read(read, 1 << 20)
            ended = chunk == b""
            data += chunk
        except BlockingIOError:
            pass
        try:
            done, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            done = 0
        if done == 0 and not ended:
            signal.sigtimedwait({signal.SIGCHLD}, 0.02)
    if not ended:
        return None
    return json.loads(data) if data else {"verdict": "failed", "text": "died", "parts": []}


def run(identity, function, seconds):
    """One test: its Outcome, with leaks turned into a failure."""
    start = time.monotonic()
    directory = make_directory(identity)
    before = leaks.Before(identity.uid)
    log_path = f"{directory}.log"
    log = os.open(log_path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    read, write = os.pipe2(os.O_CLOEXEC)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        child(identity, directory, function, log, write)
    os.close(write)
    try:
        answer = wait_for(pid, read, seconds)
        if answer is None:
            processes.kill_all_below()
            answer = {"verdict": "failed", "text": f"no end after {seconds} s", "parts": []}
        left = leaks.after(directory, before)
        if left:
            answer["verdict"] = "failed"
            answer["text"] += "\nleft behind:\n  " + "\n  ".join(left)
        inside = any(verdict == "failed" for _, verdict, _ in answer["parts"])
        if answer["verdict"] == "failed" or inside:
            printed = os.pread(log, 64 << 10, max(0, os.fstat(log).st_size - (64 << 10)))
            answer["text"] += "\n" + printed.decode(errors="replace")
    finally:
        os.close(read)
        os.close(log)
        os.unlink(log_path)
        processes.kill_all_below()
        remove_directory(directory)
    return Outcome(answer["verdict"], answer["text"].strip(), answer["parts"],
                   time.monotonic() - start)
