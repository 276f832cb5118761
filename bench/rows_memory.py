"""Rows about memory: idle sandboxes, and a flood of output."""
import os
import subprocess

from stage import Row

ALIVE = 100
HELPERS = ("bawn-keeper", "bawn-init", "bawn")


def pss_kib(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def helpers():
    """Pids of our helper programs that belong to this user."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid in (os.getuid(), 0):
                with open(f"/proc/{name}/comm", encoding="utf-8", errors="replace") as file:
                    if file.read().strip() in HELPERS:
                        found.append(int(name))
        except OSError:
            continue
    return found


def idle_pss(stage):
    repo = stage.repo(100)
    before = set(helpers())
    for number in range(ALIVE):
        stage.run(stage.bawn, "run", "--keep", "--name", f"idle-{number}", "--", "/bin/true",
                  cwd=repo)
    total, unread = 0, 0
    for pid in set(helpers()) - before:
        try:
            total += pss_kib(pid)
        except OSError:
            unread += 1
    stage.discard_all()
    for number in range(ALIVE):
        stage.run(stage.bawn, "discard", "--yes", f"idle-{number}", cwd=repo, check=False)
    note = f"; {unread} processes could not be read, run as root" if unread else ""
    return Row(f"idle live sandbox, PSS, {ALIVE} alive", "<= 300 KiB",
               f"{total / ALIVE:.0f} KiB{note}", None if unread else total / ALIVE <= 300)


def output_memory(stage):
    """Peak resident memory of bawn while its job prints 10 GB, at two points: it must be flat."""
    argv = [stage.bawn, "run", "--", "/usr/bin/head", "-c", str(10 << 30), "/dev/zero"]
    early = late = passed = 0
    with subprocess.Popen(argv, cwd=stage.repo(100), env=stage.environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        while chunk := process.stdout.read(1 << 20):
            passed += len(chunk)
            if passed % (64 << 20) < len(chunk):
                late = max(late, resident_kib(process.pid))
                early = late if passed < (1 << 30) else early
        if process.wait() != 0 or passed != 10 << 30:
            raise RuntimeError("bench: the job that prints 10 GB failed")
    stage.discard_all()
    return Row("memory of bawn while 10 GB are printed", "flat, <= 32 MiB",
               f"{late / 1024:.1f} MiB, after the first GB {early / 1024:.1f}",
               late <= 32 << 10 and late <= early + 1024)


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmHWM"):
                return int(line.split()[1])
    return 0


ROWS = (idle_pss, output_memory)
