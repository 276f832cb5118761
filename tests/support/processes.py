"""Process facts from /proc, and the subreaper trick that makes leaks visible.

A subreaper inherits every orphan below it (prctl(2), PR_SET_CHILD_SUBREAPER), so whatever a test
leaves running ends up as a child of the runner, whatever it double-forked or setsid'ed.
"""
import ctypes
import os
import signal
import time

PR_SET_CHILD_SUBREAPER = 36


def become_subreaper():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def status_of(pid):
    """(state, parent pid, command line) or None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rsplit(b")", 1)[1].split()
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            line = file.read().replace(b"\0", b" ").decode(errors="replace").strip()
        return fields[0].decode(), int(fields[1]), line or comm_of(pid)
    except (OSError, IndexError, ValueError):
        return None


def comm_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def descendants(root=None):
    """Pids below `root` (default: this process), zombies left out."""
    root = os.getpid() if root is None else root
    parents = {}
    for pid in all_pids():
        facts = status_of(pid)
        if facts and facts[0] not in "ZX":
            parents[pid] = facts[1]
    found = []
    for pid in parents:
        above = parents[pid]
        while above in parents and above != root:
            above = parents[above]
        if above == root:
            found.append(pid)
    return found


def traced(tracer):
    """Pids that `tracer` traces, whoever their parent is by now."""
    found = []
    for pid in all_pids():
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
                if f"\nTracerPid:\t{tracer}\n" in file.read():
                    found.append(pid)
        except OSError:
            pass  # it has just ended
    return found


def reap():
    """Collects whatever children have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def kill_all_below():
    """SIGKILL to everything below this process until nothing is left; at most five seconds."""
    deadline = time.monotonic() + 5
    while True:
        reap()
        pids = descendants()
        if not pids or time.monotonic() > deadline:
            return pids
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.02)


def uses(directory):
    """Every process of the machine that this caller can look into and that has `directory` (or a
    path below it) as working directory, root, executable or open file: [(pid, what)]."""
    found = []
    for pid in all_pids():
        for link in ("cwd", "root", "exe"):
            try:
                target = os.readlink(f"/proc/{pid}/{link}")
            except OSError:
                continue
            if target == directory or target.startswith(directory + "/"):
                found.append((pid, f"{link} {target}"))
    return found
