"""Every attack program of tests/payloads, through each way into a sandbox, with its control.

For each row: the control (the same program where the wall is absent) must succeed, and the program
must be stopped under `bawn run` and `bawn run --in`, at each level that this user has and that
claims to stop it: root has isolated and bounded, an ordinary user isolated and restricted (and
`none`, which claims nothing). It also runs under bubblewrap with the command
line nearest to ours: what bwrap stops and we do not is a failure by itself, so the report shows it.
"""
import os
import re
import shutil
from pathlib import Path

from support import terminal
from support.marks import check, equal
from support.scene import Scene

PAYLOADS = Path(__file__).resolve().parent.parent / "payloads"
HEAD = re.compile(r"^// wall: (\S+)  overlaps: (\S.*?)  source: (\S.*)$")

# Where a control runs.
NATIVE = "native"          # as the same user, with nothing around it
NAMESPACES = "namespaces"  # root of fresh namespaces: capabilities, but nothing of ours
AS_ROOT = "root"           # only the machine's root can do it at all
NEVER = "never"            # this kernel has no such thing; the reason stands beside the row

ROOT_LEVELS = ("isolated", "bounded")
USER_LEVELS = ("isolated", "restricted")


class Attack:
    """One row. `args` are filled by support/scene.py; `prepare` is shell run before the control in
    its namespaces; `tty` gives the program a terminal, `fds` descriptors of the caller.
    `restricted` is false for what that level does not claim to stop: SECURITY.md lists it."""

    def __init__(self, args="", control=NATIVE, program=None, control_args="", prepare="",
                 tty=False, fds=False, stdout_file=False, restricted=True):
        self.args, self.control, self.program = args, control, program
        self.control_args, self.prepare = control_args, prepare
        self.tty, self.fds, self.stdout_file = tty, fds, stdout_file
        self.restricted = restricted

    def levels(self, is_root):
        """Those of this user that claim to stop it."""
        if is_root:
            return ROOT_LEVELS
        return [level for level in USER_LEVELS if level != "restricted" or self.restricted]


def typing():
    """TIOCSTI is for root alone where the kernel's legacy switch is off."""
    try:
        legacy = Path("/proc/sys/dev/tty/legacy_tiocsti").read_text(encoding="ascii").strip()
    except OSError:
        legacy = "1"
    return NATIVE if legacy == "1" else AS_ROOT


ATTACKS = {
    # files that no view shows
    "read_outside": Attack("{canary} {token}"),
    "read_outside_tmp": Attack("{temporary} {token}", program="read_outside"),
    "read_outside_state": Attack("{state} {token}", program="read_outside"),
    "read_outside_home": Attack("{home} {token}", program="read_outside"),
    "read_credentials": Attack("{token} {credentials}"),
    "write_outside": Attack("{canary}"),
    "create_outside": Attack("{new}"),
    "create_in_state": Attack("{state}.new", program="create_outside"),
    "write_system": Attack(control=AS_ROOT),
    "dotdot_walk": Attack("{canary} {token}"),
    "hardlink_host": Attack("{canary}"),
    "symlink_out": Attack("{canary} {token}"),
    "shared_memory_file": Attack("{shared} {token}"),
    "open_by_handle": Attack(control=AS_ROOT),
    # descriptors of the caller
    "inherited_fds": Attack("{dirfd}", fds=True),
    "inherited_dir": Attack("{dirfd} {canary} {token}", fds=True),
    "reopen_stdout": Attack(stdout_file=True),
    # pid 1 and its secrets
    "proc_root": Attack("{pid1} {canary} {token}"),
    "proc_cwd": Attack("{pid1} {canary} {token}"),
    "proc_mem": Attack("{pid1}"),
    "proc_environ": Attack("{pid1}"),
    "proc_exe": Attack("{pid1}"),
    "proc_fd": Attack("{pid1}", restricted=False),
    "proc_maps": Attack("{pid1}"),
    "proc_oom": Attack("{pid1}"),
    "proc_timerslack": Attack("{pid1}", control=AS_ROOT),
    "ptrace_seize": Attack("{pid1}"),
    "vm_readv": Attack("{pid1}"),
    "pidfd_getfd": Attack("{pid1}"),
    "prlimit_other": Attack("{pid1}"),
    "kcmp_other": Attack("{pid1}"),
    "kill_pid1": Attack("{pid1}"),
    # processes of the host
    "see_host_pid": Attack("{witness} bawn-witness", restricted=False),
    "ptrace_host": Attack("{witness}", program="ptrace_seize"),
    "signal_host": Attack("{witness}"),
    "signal_host_group": Attack("{witness}"),
    "tgkill_host": Attack("{witness}"),
    "sigqueue_host": Attack("{witness}"),
    "renice_host": Attack("{witness}", restricted=False),
    "kill_everything": Attack("{witness}", control_args="{witness} control"),
    # the terminal
    "tiocsti": Attack(control=typing(), tty=True),
    "tiocsti_bit32": Attack(control=typing(), tty=True),
    "tiocsti_bit63": Attack(control=typing(), tty=True),
    "tioclinux": Attack(tty=True),
    "tiocsetd": Attack(tty=True),
    "caller_tty": Attack("{tty}", control_args="{tty} control", tty=True),
    # sockets
    "vsock": Attack(),
    "vsock_bit32": Attack(),
    "vsock_bit63": Attack(),
    "netlink_netfilter": Attack(),
    "netlink_bit32": Attack(),
    "netlink_uevent": Attack(),
    "packet_socket": Attack(control=NAMESPACES),
    "raw_socket": Attack(control=NAMESPACES),
    "xdp_socket": Attack(control=NAMESPACES),
    "connect_loopback": Attack("{port}"),
    "connect_loopback6": Attack("{port6}"),
    "udp_loopback": Attack("{udp}"),
    "unix_socket": Attack("{socket}"),
    "unix_socket_runtime": Attack("{runtime_socket}", program="unix_socket"),
    "abstract_socket": Attack("{abstract}"),
    "fifo_writer": Attack("{fifo}"),
    "sysv_shm": Attack("{shm}"),
    # system calls
    "io_uring": Attack(),
    "userfaultfd": Attack(),
    "perf_event": Attack(),
    "add_key": Attack(),
    "join_keyring": Attack(),
    "personality_exec": Attack(),
    "personality_bit32": Attack(),
    "modify_ldt": Attack(),
    "fanotify": Attack(),
    "bpf_map": Attack(control=AS_ROOT),
    "read_kernel_log": Attack(control=AS_ROOT),
    "swap_on": Attack(control=AS_ROOT),
    "unshare_user": Attack(),
    "unshare_net": Attack(control=NAMESPACES),
    "clone_user": Attack(),
    "clone_user_bit32": Attack(),
    "clone3_user": Attack(),
    "setns_own": Attack(control=NAMESPACES),
    "set_host_name": Attack(control=NAMESPACES),
    "become_root": Attack(control=NAMESPACES),
    "drop_groups": Attack(control=AS_ROOT),
    "raise_capabilities": Attack(control=NAMESPACES),
    "user_limit_write": Attack(control=NAMESPACES),
    "int80": Attack(),
    "x32": Attack(control=NEVER),  # built without the x32 entry: ENOSYS natively too
    "ptrace_rewrite": Attack(),
    # mounts
    "mount_tmpfs": Attack(control=NAMESPACES),
    "mount_bind": Attack(control=NAMESPACES),
    "mount_proc": Attack(control=NAMESPACES),
    "mount_overlay": Attack(control=NAMESPACES),
    "fs_open": Attack(control=NAMESPACES),
    "open_tree": Attack(control=NAMESPACES),
    "remount_writable": Attack("{readonly}", control=NAMESPACES,
                               prepare="mount -t tmpfs -o ro none {mountpoint}"),
    "mount_setattr": Attack("{readonly}", control=NAMESPACES,
                            prepare="mount -t tmpfs -o ro none {mountpoint}"),
    "unmount_cover": Attack("{cover}", control=NAMESPACES,
                            prepare="mount -t tmpfs none {mountpoint}"),
    "pivot_root": Attack(control=NAMESPACES),
    "double_chroot": Attack(control=NAMESPACES),
    # settings, devices, attributes
    "core_pattern": Attack(control=AS_ROOT),
    "proc_sys_write": Attack(control=AS_ROOT),
    "sys_write": Attack(control=AS_ROOT),
    "kernel_memory": Attack(control=AS_ROOT),
    "mknod_device": Attack(control=AS_ROOT),
    "mknod_whiteout": Attack(),
    "trusted_xattr": Attack(control=AS_ROOT),
    "immutable_flag": Attack(control=AS_ROOT),
    "setuid_program": Attack(),
    "no_new_privs_off": Attack(),
    "core_dump": Attack(),
}


def bwrap(repo):
    """The command line of bubblewrap that is nearest to ours."""
    return ["bwrap", "--unshare-all", "--unshare-user", "--ro-bind", "/usr", "/usr", "--symlink",
            "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
            "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", repo, repo,
            "--chdir", repo]


def perform(box, row, prefix, inside, args, own_pids=True, harm=False):
    """Runs the attack behind `prefix`; (exit code, its last line). `harm`: it may succeed."""
    repo = f"{box.work}/repo"
    scene = Scene(box, inside, own_pids)
    scene.expect_harm = harm
    try:
        argv = [*prefix, "./attack", *scene.fill(args)]
        if row.tty:
            run = terminal.run(argv, repo)
        elif row.stdout_file:
            with open(f"{box.work}/out.txt", "w+b") as file:
                process = box.start(*argv, cwd=repo, stdout=file)
                code = process.wait(60)
                file.seek(0)
                return code, last_line(file.read())
        else:
            run = box.command(*argv, cwd=repo, pass_fds=tuple(scene.pass_fds))
        return run.code, last_line(run.out_bytes + b"\n" + run.err_bytes)
    finally:
        scene.close()


def last_line(output):
    """What the attack said; on a terminal it may stand behind an echo."""
    text = output.decode(errors="replace")
    told = re.findall(r"(?:succeeded|stopped|cannot): .*", text)
    return told[-1].strip() if told else " | ".join(text.split("\n")[-3:])


def control(box, row):
    """(what it is called, exit code or None when this user has no control, last line)."""
    args = row.control_args or row.args
    if row.control == AS_ROOT and not box.is_root:
        return "control: root's alone", None, ""
    if row.control == NAMESPACES:
        prefix = ["unshare", "--user", "--map-root-user", "--mount", "--net", "--uts", "--ipc",
                  "--pid", "--fork", "--mount-proc"]
        if row.prepare:
            prefix += ["sh", "-c", row.prepare.replace("{mountpoint}", f"{box.work}/mountpoint") +
                       ' && exec "$0" "$@"']
            os.makedirs(f"{box.work}/mountpoint", exist_ok=True)
        code, line = perform(box, row, prefix, False, args)
    else:
        code, line = perform(box, row, [], False, args)
    return f"control: {row.control}", code, line


def attack(box, name):
    row = ATTACKS[name]
    program = row.program or name
    repo = box.repo()
    shutil.copy(f"{box.payloads}/{program}", f"{repo}/attack")
    parts = []

    what, code, line = control(box, row)
    if code is not None and row.control != NEVER:
        parts.append([what, "passed" if code == 0 else "failed", f"{code}: {line}"])

    ours = []
    for level in row.levels(box.is_root):
        box.run("touch", "kept-by-test", cwd=repo, options=(
            "--name", level, "--quiet", "--level", level)).expect(0)
        for way, options in (("run", ("--ephemeral", "--level", level)),
                             ("run --in", ("--in", level))):
            prefix = [box.bawn_path, "run", *options, "--quiet", "--"]
            code, line = perform(box, row, prefix, True, row.args, level != "restricted")
            stopped = code == 1 and line.startswith("stopped:")
            parts.append([f"{way} at {level}", "passed" if stopped else "failed",
                          f"{code}: {line}"])
            if level != "restricted":
                ours.append(code)
        box.bawn("discard", level, "--yes", cwd=repo)

    peer, line = perform(box, row, bwrap(repo), True, row.args)
    weaker = peer == 1 and 0 in ours
    parts.append(["no weaker than bwrap", "failed" if weaker else "passed", f"{peer}: {line}"])
    return parts


def make_test(name):
    return lambda box: attack(box, name)


for _name in ATTACKS:
    globals()[f"test_{_name}"] = make_test(_name)


def test_table_and_programs_agree(_):
    programs = {path.stem for path in PAYLOADS.glob("*.c")}
    used = {row.program or name for name, row in ATTACKS.items()}
    equal(used - programs, set(), "rows without a program")
    equal(programs - used - ELSEWHERE, set(), "programs without a row")
    check(len(used) >= 70, f"{len(used)} attack programs; the promise is 70")
    for path in sorted(PAYLOADS.glob("*.c")):
        first = path.read_text(encoding="utf-8").split("\n", 1)[0]
        check(HEAD.match(first), f"{path.name}: first line names no wall: {first}")


# Programs that need more around them than a row says; each names the file of its test.
ELSEWHERE = {"proc_scan"}  # test_races.py
