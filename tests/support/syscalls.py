"""System calls by number (x86-64, asm/unistd_64.h), and the failure that fits each."""
import errno
import re

HEADER = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"


def names():
    """{number: name}, as the machine's own header has them."""
    with open(HEADER, encoding="ascii") as file:
        found = re.findall(r"#define __NR_(\w+) (\d+)", file.read())
    table = {int(number): name for name, number in found}
    # Newer than Debian 12's header.
    table.update({452: "fchmodat2", 457: "statmount", 458: "listmount"})
    return table


# Cannot fail, or do not return.
NEVER_FAIL = {
    "exit", "exit_group", "rt_sigreturn", "getpid", "gettid", "getppid", "getuid", "geteuid",
    "getgid", "getegid", "getpgrp", "umask", "alarm", "sched_yield", "set_tid_address",
    "set_robust_list", "rseq", "restart_syscall", "arch_prctl", "clock_gettime", "sync",
    "futex"}

FAILURES = {
    errno.EMFILE: "open openat openat2 open_tree fsopen fspick fsmount pipe pipe2 socket "
                  "socketpair accept accept4 memfd_create dup dup2 dup3 signalfd4 epoll_create1 "
                  "pidfd_open "
                  "eventfd2 timerfd_create fcntl inotify_init1",
    errno.ENOSPC: "mkdir mkdirat write writev pwrite64 pwritev pwritev2 rename renameat renameat2 "
                  "link linkat symlink symlinkat mknod mknodat ftruncate fallocate fsetxattr "
                  "setxattr lsetxattr copy_file_range sendfile",
    errno.ENOMEM: "brk mmap mremap munmap mprotect madvise execve execveat poll ppoll recvmsg "
                  "mount_setattr move_mount fsconfig mount umount2 pivot_root unshare bind listen "
                  "select pselect6 epoll_wait epoll_pwait fstat lstat stat newfstatat statx "
                  "capset seccomp landlock_create_ruleset landlock_add_rule",
    errno.EAGAIN: "clone clone3 fork vfork setresuid setresgid setuid setgid",
    errno.ENOBUFS: "sendmsg sendto connect",
    errno.ENOLCK: "flock",
    errno.EPERM: "prctl kill tgkill tkill pidfd_send_signal setgroups fchmod fchmodat fchmodat2 "
                 "fchown fchownat chmod chown lchown utimensat ptrace setns sethostname chroot "
                 "setrlimit prlimit64 landlock_restrict_self setsid setpgid close_range utimes",
    # getrandom(2) has no other failure for what we ask of it.
    errno.EINTR: "wait4 waitid nanosleep clock_nanosleep getrandom",
    errno.ENOTTY: "ioctl",
}
DEFAULT_FAILURE = errno.EIO
FAILURE_OF = {name: code for code, line in FAILURES.items() for name in line.split()}

# A signal may come during these: they must be begun again, or the interruption reported.
INTERRUPTIBLE = {
    "read", "write", "readv", "writev", "pread64", "pwrite64", "poll", "ppoll", "open", "openat",
    "openat2", "flock", "connect", "accept4", "recvmsg", "sendmsg", "recvfrom", "sendto", "close",
    "copy_file_range", "ftruncate", "fallocate", "fsync", "syncfs", "dup2", "dup3",
    "epoll_wait", "select"}


def failures(name):
    """The errnos to try for a call: none for one that cannot fail."""
    if name in NEVER_FAIL:
        return []
    found = [FAILURE_OF.get(name, DEFAULT_FAILURE)]
    return found + [errno.EINTR] if name in INTERRUPTIBLE else found
