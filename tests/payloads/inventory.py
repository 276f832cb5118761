"""What a curious program finds where it runs: namespaces, rights, mounts, sockets, devices, setuid
files, writable places, credentials, environment, leaks of /proc and /sys, system calls.

usage: python3 inventory.py [KIND=VALUE…]

The words name what the host has (namespace ids, host name), so that "the same as the host's" can be
told. One finding a line, `kind:detail`; tests/machine/test_inventory.py says what each must map to.
"""
import ctypes
import errno
import os
import re
import resource
import socket
import stat
import sys

SECRET_NAMES = re.compile(
    r"^(id_(rsa|dsa|ecdsa|ed25519)(_sk)?|\.?netrc|\.git-credentials|\.pgpass|\.my\.cnf|\.npmrc|"
    r"\.pypirc|\.vault-token|credentials(\.toml|\.json|\.db)?|shadow-?|gshadow-?|\.htpasswd|"
    r"settings-security\.xml|.*\.(key|kdbx|p12|pfx|jks|keystore|ppk)|.*_history|hosts\.yml)$")
SERVICE_VARIABLES = re.compile(
    r"TOKEN|SECRET|PASSW|KEY|CREDENTIAL|AUTH|COOKIE|_PROXY$|_SOCK$", re.I)
PID1_PRIVATE = ("environ", "maps", "mem", "root", "cwd", "exe", "fd", "auxv", "stack", "syscall")
# Calls by number (x86-64) that a payload has no business with; arguments are all invalid.
CALLS = {
    "ptrace": 101, "syslog": 103, "personality": 135, "ustat": 136, "vhangup": 153,
    "modify_ldt": 154, "pivot_root": 155, "adjtimex": 159, "chroot": 161, "acct": 163,
    "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "reboot": 169,
    "sethostname": 170, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176,
    "quotactl": 179, "clock_settime": 227, "mbind": 237, "kexec_load": 246, "add_key": 248,
    "request_key": 249, "keyctl": 250, "migrate_pages": 256, "unshare": 272, "move_pages": 279,
    "perf_event_open": 298, "fanotify_init": 300, "name_to_handle_at": 303,
    "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310,
    "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "bpf": 321, "userfaultfd": 323,
    "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432,
    "fspick": 433, "pidfd_getfd": 438, "mount_setattr": 442, "memfd_secret": 447,
}
# The kernel's answers for "not for you" (natively, too, where a right is missing).
REFUSED = (errno.EPERM, errno.ENOSYS, errno.EACCES)

HOST = dict(word.split("=", 1) for word in sys.argv[1:])


def found(kind, detail):
    text = str(detail).encode("utf-8", "backslashreplace").decode().replace("\n", "\\n")
    print(f"{kind}:{text}")


def read(path, size=1 << 20):
    try:
        with open(path, "rb") as file:
            return file.read(size).decode(errors="replace")
    except OSError:
        return None


def identity():
    found("uid", ",".join(str(x) for x in os.getresuid()))
    found("gid", ",".join(str(x) for x in os.getresgid()))
    for group in os.getgroups():
        found("group", group)
    for line in (read("/etc/passwd") or "").splitlines():
        found("user_name", line.split(":")[0])
    for name, path in (("host_name", "/proc/sys/kernel/hostname"),
                       ("machine_id", "/etc/machine-id"),
                       ("boot_id", "/proc/sys/kernel/random/boot_id"),
                       ("kernel", "/proc/sys/kernel/osrelease"),
                       ("command_line", "/proc/cmdline")):
        text = (read(path) or "").strip()
        if text and text == HOST.get(name):
            found("same_as_host", name)


def namespaces():
    for name in sorted(os.listdir("/proc/self/ns")):
        if name.endswith("_for_children"):
            continue
        same = os.readlink(f"/proc/self/ns/{name}") == HOST.get(f"ns_{name}")
        found("namespace_shared" if same else "namespace_own", name)


def rights():
    status = dict(line.split(":", 1) for line in read("/proc/self/status").splitlines())
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        if int(status[name], 16):
            found("capabilities", f"{name} {status[name].strip()}")
    if status["Seccomp"].strip() != "2":
        found("no_filter", status["Seccomp"].strip())
    if status["NoNewPrivs"].strip() != "1":
        found("privileges_can_grow", status["NoNewPrivs"].strip())
    label = (read("/proc/self/attr/current") or "").strip("\0\n ")
    if label:
        found("label", label)
    group = (read("/proc/self/cgroup") or "").split()
    for line in group:
        if line.split(":", 2)[2] != "/":
            found("control_group", line)
    if resource.getrlimit(resource.RLIMIT_CORE)[1] > 1:
        found("core_files", resource.getrlimit(resource.RLIMIT_CORE))
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
        found("descriptor", f"{fd} {re.sub(r'[0-9]+', 'N', target)}")


def mounts():
    for line in read("/proc/self/mountinfo").splitlines():
        left, right = line.split(" - ", 1)
        fields, (kind, _, options) = left.split(), right.split(" ", 2)
        path, flags = fields[4], fields[5].split(",")
        found("mount", f"{'rw' if 'rw' in flags else 'ro'} {kind} {path}")
        if "nosuid" not in flags:
            found("mount_suid", path)
        if "nodev" not in flags and not path.startswith("/dev/") and kind != "devpts" and \
                not (os.path.exists(path) and stat.S_ISCHR(os.stat(path).st_mode)):
            found("mount_devices", path)
        if fields[3] not in ("/", path) and kind not in ("tmpfs", "devtmpfs", "sysfs", "proc"):
            found("host_path", f"{path} root")
        if "upperdir=" in options or "lowerdir" in options:
            found("host_path", f"{path} layers")


def walk():
    """Every entry of every file system but /proc, once: special files, rights, secrets."""
    writable = []
    for base, folders, files in os.walk("/"):
        if base == "/":
            folders[:] = [f for f in folders if f != "proc"]
        if not any(base == w or base.startswith(w + "/") for w in writable) and \
                os.access(base, os.W_OK | os.X_OK):
            writable.append(base)
            found("writable", base)
        for name in files:
            path = os.path.join(base, name)
            try:
                info = os.lstat(path)
            except OSError:
                continue
            special(path, info)
            if stat.S_ISREG(info.st_mode) and info.st_size and SECRET_NAMES.match(name) and \
                    os.access(path, os.R_OK):
                found("credential", path)


def special(path, info):
    mode = info.st_mode
    if stat.S_ISSOCK(mode):
        found("socket", path)
    elif stat.S_ISFIFO(mode):
        found("fifo", path)
    elif stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
        found("device", path)
    elif stat.S_ISREG(mode) and mode & 0o6000:
        nosuid = os.statvfs(path).f_flag & os.ST_NOSUID
        found("setuid" if nosuid else "setuid_effective", path)


def network():
    for _, name in socket.if_nameindex():
        found("interface", name)
    for line in (read("/proc/net/unix") or "").splitlines()[1:]:
        if len(line.split()) > 7:
            found("unix_listener", line.split()[-1])
    for name in ("tcp", "tcp6", "udp", "udp6"):
        for line in (read(f"/proc/net/{name}") or "").splitlines()[1:]:
            found("inet_socket", f"{name} {line.split()[1]}")
    for what, address in (("metadata_service", ("169.254.169.254", 80)),
                          ("outside", ("192.0.2.1", 443))):
        with socket.socket() as sock:
            sock.settimeout(0.3)
            try:
                sock.connect(address)
                found("reachable", what)
            except TimeoutError:
                found("route", what)
            except OSError as error:
                if error.errno in (errno.ECONNREFUSED, errno.EHOSTUNREACH):
                    found("route", what)
    for family in ("AF_VSOCK", "AF_PACKET", "AF_NETLINK", "AF_ALG", "AF_BLUETOOTH", "AF_CAN"):
        try:
            socket.socket(getattr(socket, family), socket.SOCK_RAW if family == "AF_NETLINK" else
                          socket.SOCK_STREAM if family == "AF_VSOCK" else
                          socket.SOCK_SEQPACKET if family in ("AF_ALG", "AF_BLUETOOTH")
                          else socket.SOCK_RAW).close()
            found("family", family)
        except OSError:
            pass


def environment():
    for name in sorted(os.environ):
        found("secret_variable" if SERVICE_VARIABLES.search(name) else "variable", name)


def processes():
    own = {os.getpid()}
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in own:
            comm = (read(f"/proc/{name}/comm") or "").strip()
            found("process", f"{'1' if name == '1' else 'N'} {comm}")
    for name in PID1_PRIVATE:
        path = f"/proc/1/{name}"
        try:
            if name in ("root", "cwd", "exe"):
                os.readlink(path)
            elif name == "fd":
                os.listdir(path)
            elif not read(path, 16):
                continue
            found("pid1", name)
        except OSError:
            pass


def kernel_files():
    for name in sorted(os.listdir("/proc")):
        path = f"/proc/{name}"
        if name.isdigit() or name in ("self", "thread-self", "sys", "kmsg"):
            continue
        if os.path.isdir(path) or read(path, 64):
            found("proc", name)
    if any(int(line.split()[0], 16) for line in (read("/proc/kallsyms", 4096) or "").splitlines()
           if line.count(" ") > 1 and not line.startswith("(")):
        found("kernel_addresses", "/proc/kallsyms")
    for base, _, files in os.walk("/proc/sys"):
        for name in files:
            try:
                os.close(os.open(f"{base}/{name}", os.O_WRONLY))
                found("setting_writable", f"{base}/{name}")
            except OSError:
                pass
    for first in sorted(os.listdir("/sys")) if os.path.isdir("/sys") else []:
        if first != "devices":
            found("sys", first)
        else:
            for second in sorted(os.listdir("/sys/devices")):
                names = os.listdir(f"/sys/devices/{second}") if second == "system" else [""]
                for name in sorted(names):
                    found("sys", f"devices/{second}/{name}".rstrip("/"))


def calls():
    libc = ctypes.CDLL(None, use_errno=True)
    for name, number in CALLS.items():
        pid = os.fork()  # a filter may answer with a signal
        if pid == 0:
            ctypes.set_errno(0)
            result = libc.syscall(number, *([ctypes.c_long(-1)] * 6))
            os._exit(0 if result >= 0 else min(ctypes.get_errno(), 255))
        status = os.waitpid(pid, 0)[1]
        code = os.waitstatus_to_exitcode(status)
        if code >= 0 and code not in REFUSED:
            found("call", f"{name} {errno.errorcode.get(code, code)}")


for act in (identity, namespaces, rights, mounts, network, environment, processes, kernel_files,
            calls, walk):
    try:
        act()
    except Exception as error:  # pylint: disable=broad-except
        found("broken", f"{act.__name__}: {error!r}")
