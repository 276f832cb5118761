"""stress-ng's stressors of processes, memory, files, terminals and sockets, inside at each level,
while a neighbour works on (docs/machine.md holds what they showed)."""
import os
import re
import time

from support import digest, levels
from support.box import stop, wait_until
from support.marks import accept, check, equal, timeout
from support.real_work import needs

CLASSES = {
    "processes": "clone daemon exec fork forkheavy vfork vforkmany spawn kill pidfd procfs session "
                 "wait zombie sigq sigchld sigsegv nice schedpolicy prctl pthread ptrace rlimit "
                 "chroot unshare setns exit-group seccomp landlock cap key sysbadaddr usersyscall "
                 "io-uring userfaultfd timer get set switch",
    "memory": "vm mmap mmapfork mremap brk stack malloc shm shm-sysv memfd mlock madvise mprotect "
              "msync munmap numa pageswap remap secretmem vm-rw vm-splice mincore",
    "files": "hdd dentry dir dirdeep dirmany link symlink rename utime open fallocate flock lockf "
             "xattr chmod chown copy-file iomix seek sendfile sync-file touch getdent filename "
             "fanotify inotify mknod fiemap fifo handle inode-flags splice tee umount "
             "verity dnotify chattr chdir fcntl file-ioctl dup pipe acl",
    "terminals": "pty",
    "sockets": "sock sockabuse sockdiag sockfd sockmany sockpair udp udp-flood epoll poll "
               "netlink-proc netlink-task netdev rawsock rawudp rawpkt ping-sock icmp-flood sctp "
               "dccp af-alg tun mq msg sem sem-sysv eventfd",
}
SECONDS = 1
# Small, so that two at once fit beside everything else on a machine.
SIZES = ("--vm-bytes", "64M", "--hdd-bytes", "16M", "--shm-bytes", "16M",
         "--memfd-bytes", "32M", "--fork-max", "8", "--copy-file-bytes", "128M", "--iomix-bytes",
         "16M", "--fallocate-bytes", "16M", "--seek-size", "16M", "--sockmany-if", "lo")
# stress-ng's exit codes: the stressor failed, had no resource, is not implemented.
WORDS = {0: "ran", 1: "refused", 2: "failed", 3: "no resource", 4: "not implemented"}
# What need not run inside: how it ends, and why. Everything else must run.
EXPECTED = {
    "chown": ("failed", "an id that nobody has inside is EINVAL in a user namespace, not EPERM"),
    "mknod": ("failed", "device nodes are refused by Landlock: EACCES, not EPERM"),
    "secretmem": ("skipped", "the filter refuses memfd_secret"),
}
EXPECTED |= {name: ("skipped", "needs a capability, also outside") for name in (
    "chroot userfaultfd fanotify umount netlink-proc netlink-task rawsock rawudp rawpkt icmp-flood "
    "tun").split()}


def stressors(box):
    known = set(box.command("stress-ng", "--stressors").expect(0).out.split())
    return [(group, name) for group, names in CLASSES.items() for name in names.split()
            if name in known]


def outcome(run):
    if "skipped" in run.out + run.err and run.code == 0:
        return "skipped"
    return WORDS.get(run.code, f"code {run.code}")


def stress(box, repo, prefix, name):
    run = box.command(*prefix, "stress-ng", f"--{name}", "2", "-t", str(SECONDS), "--temp-path",
                      ".", *SIZES, cwd=repo, seconds=90)
    if outcome(run) not in ("ran", "skipped"):
        print(run.told())
    return outcome(run)


class Neighbour:
    """A job of another sandbox that writes down the time, ten times a second."""

    def __init__(self, box, repo):
        self.box, self.repo, self.name = box, repo, "neighbour"
        script = "while :; do date +%s.%N >>ticks; sleep 0.1; done"
        self.process = box.start(box.bawn_path, "run", "--quiet", "--name", self.name, "--", "sh",
                                 "-c", script, cwd=repo)
        wait_until(lambda: self.name in box.bawn("list", "--all").out, "the neighbour starts", 20)

    def end(self, seconds):
        """Its work must have gone on all the time."""
        check(self.process.poll() is None, "the neighbour's job was ended")
        stop(self.process)
        self.box.bawn("list", cwd=self.repo)  # recovers what was killed
        patch = self.box.bawn("diff", self.name, cwd=self.repo).expect(0).out
        times = [float(x) for x in re.findall(r"^\+(\d+\.\d+)$", patch, re.M)]
        check(len(times) > seconds, f"{len(times)} ticks in {seconds:.0f} s")
        gap = max((b - a for a, b in zip(times, times[1:])), default=0)
        check(gap < 10, f"the neighbour stood still for {gap:.1f} s")
        self.box.bawn("discard", "--yes", self.name, cwd=self.repo).expect(0)


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return sorted(line.split(" ", 2)[2] for line in file)


@accept
@timeout(1500)
def test_stressors_run_and_harm_nobody(box):
    needs("stress-ng")
    repo = box.repo()
    witness = box.start("sleep", "10000", cwd=repo)
    neighbour = Neighbour(box, box.repo("other"))
    before = digest.tree(repo), mounts()
    start, seen = time.monotonic(), {}
    todo = stressors(box)
    for level in levels.available(box, repo):
        prefix = (box.bawn_path, "run", "--ephemeral", "--quiet", "--timeout", "60s", "--level",
                  level, "--")
        for group, name in todo:
            seen[f"{level} {group} {name}"] = stress(box, repo, prefix, name)
    took = time.monotonic() - start
    check(witness.poll() is None, "a process of the host was ended")
    stop(witness)
    neighbour.end(took)
    equal(mounts(), before[1], "mounts of the host")
    equal(digest.difference(before[0], digest.tree(repo)), [], "files of the host")
    parts = []
    for key, how in seen.items():
        name = key.split()[2]
        good = how in ("ran", EXPECTED.get(name, ("", ""))[0])
        parts.append([key, "passed" if good else "failed", how])
    return parts


