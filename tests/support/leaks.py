"""What a test left behind: processes, mounts, temporary entries, sockets, locks, cgroups.

Promise 1 of the design ("destroyed after it, completely") is checked after every single test, not
only by tests about it.
"""
import fcntl
import os
import stat
import time
from pathlib import Path

from . import processes

# Ends of processes are waited for that long; `bawn` may keep one writer-back for up to 60 s.
GRACE_SECONDS = 5
WRITER_BACK_SECONDS = 65
SHARED_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
OUR_PREFIXES = ("bawn-test", "bawn-demo")


class Before:
    """The state that a test must leave as it found it."""

    def __init__(self, uid):
        self.uid = uid
        self.time = time.time()
        self.shared = shared_entries(uid)
        self.cgroups = cgroups()


def shared_entries(uid):
    """Entries of the shared temporary directories that a test of this user could have made. Root
    shares them with the whole machine, so for root only those that carry the program's name."""
    found = set()
    for directory in SHARED_TEMPORARY:
        for entry in os.scandir(directory):
            try:
                owner = entry.stat(follow_symlinks=False).st_uid
            except OSError:
                continue
            ours = "bawn" in entry.name if uid == 0 else True
            if owner == uid and ours and not entry.name.startswith(OUR_PREFIXES):
                found.add(entry.path)
    return found


def cgroups():
    """Control groups that carry the program's name, in every hierarchy."""
    found = set()
    for base, names, _ in os.walk("/sys/fs/cgroup"):
        found.update(os.path.join(base, name) for name in names if "bawn" in name)
        if base.count("/") > 6:
            names.clear()
    return found


def left_processes():
    """Waits for what is below this process to end; kills and names what did not."""
    start = time.monotonic()
    while True:
        processes.reap()
        pids = processes.descendants()
        waited = time.monotonic() - start
        if not pids:
            return []
        own = all(processes.comm_of(pid).startswith("bawn") for pid in pids)
        if waited > (WRITER_BACK_SECONDS if own else GRACE_SECONDS):
            break
        time.sleep(0.02)
    told = [f"process {pid}: {(processes.status_of(pid) or ('', 0, '?'))[2]}" for pid in pids]
    processes.kill_all_below()
    return told


def left_mounts(directory):
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        return [f"mount {line.split()[4]}" for line in file if f" {directory}" in line]


def left_entries(directory, before):
    """Entries of the test's own TMPDIR, and new ones in the shared temporary directories."""
    found = [f"temporary entry {entry.path}" for entry in os.scandir(Path(directory) / "tmp")]
    # Somebody else's run of the program on this machine comes and goes: only what stays counts.
    for _ in range(20):
        new = shared_entries(before.uid) - before.shared
        if not new:
            return found
        time.sleep(0.1)
    return found + [f"temporary entry {path}" for path in sorted(new)]


def left_in_state(directory):
    """Sockets below the state and runtime directories, and locks that somebody still holds."""
    found = []
    for name in ("state", "run", "home"):
        for base, _, files in os.walk(Path(directory) / name):
            for file in files:
                path = os.path.join(base, file)
                try:
                    mode = os.lstat(path).st_mode
                except OSError:
                    continue
                if stat.S_ISSOCK(mode):
                    found.append(f"socket {path}")
                elif file == "lock" and "/sb/" in base and is_locked(path):
                    found.append(f"held lock {path}")
    return found


def is_empty(path):
    try:
        with open(f"{path}/cgroup.procs", "rb") as file:
            return not file.read(1)
    except OSError:
        return False


def owner_of(path):
    try:
        return os.stat(path).st_uid
    except OSError:
        return None


def left_cgroups(before):
    """Control groups are the machine's: somebody else's run may have some, with processes in them.
    No process of the test is left here, so ours are empty, and its user made them."""
    for _ in range(30):
        new = {path for path in cgroups() - before.cgroups
               if is_empty(path) and owner_of(path) == before.uid}
        if not new:
            return []
        time.sleep(0.1)
    return sorted(new)


def is_locked(path):
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def after(directory, before):
    """Every leak, as lines. Called by the runner, which is the subreaper."""
    found = left_processes()
    found += left_mounts(directory)
    found += left_entries(directory, before)
    found += left_in_state(directory)
    found += [f"cgroup {path}" for path in left_cgroups(before)]
    return found
