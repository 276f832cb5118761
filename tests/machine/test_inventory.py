"""What a curious program finds inside (tests/payloads/inventory.py), line by line: each finding is
a wall of the receipt or stands in SECURITY.md, or the test fails with it."""
import os
import re
import shutil
from pathlib import Path

from support import levels
from support.marks import check, timeout
from support.scene import CREDENTIALS, TOKEN

ROOT = Path(__file__).resolve().parent.parent.parent
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def receipt(layer):
    return ("receipt", layer)


def security(text):
    return ("SECURITY.md", text)


# A finding (a whole-line pattern) and what accounts for it. First match counts.
EVERYWHERE = [
    (r"uid:(?!0)(\d+),\1,\1|gid:(?!0)(\d+),\2,\2", receipt("caps")),
    (r"variable:\w+", security("the environment")),
    (r"label:unconfined", security("your user name and the names of your groups")),
    (r"same_as_host:(kernel|command_line|boot_id)", security("kernel version, configuration and")),
    (r"proc:(?!kcore)\w[\w.-]*", security("kernel version, configuration and")),
    (r"sys:devices/system/cpu", security("processor count and topology")),
    (r"user_name:(root|nobody|user|bawn|{user})|group:\d+",
     security("your user name and the names")),
    (r"family:AF_NETLINK", security("foreign netlink")),
    (r"setuid:/(usr|opt)/.*", security("setuid programs")),
    (r"credential:/(usr|opt)/.*", security("keys that packages publish")),
    (r"device:/dev/(null|zero|full|random|urandom|tty|pts/(ptmx|\d+))", security("nothing of the")),
    (r"mount:rw devtmpfs /dev/(null|zero|full|random|urandom|tty)", security("nothing of the")),
    # Calls that the filter lets through: debuggers and allocators need them, inside their domain.
    (r"call:(ptrace|process_vm_(readv|writev)|kcmp) .*", security("trace each other")),
    (r"call:(personality|mbind|migrate_pages|move_pages|name_to_handle_at|clock_adjtime|adjtimex) "
     r".*", receipt("seccomp")),
    (r"descriptor:[012] (/dev/null|pipe:\[N\]|/dev/pts/N)", security("no descriptor of yours")),
    (r"writable:({repo}|/tmp|/dev/shm)(/.*)?", security("Writes reach only")),
    (r"control_group:.*", security("control groups by their path")),
]
ISOLATED = [
    (r"namespace_own:(user|mnt|pid|net|ipc|uts|cgroup)", receipt("userns")),
    (r"namespace_shared:time", security("the machine's clock")),
    (r"process:1 bawn-init|process:N (python3|sh|bawn-init).*", receipt("pidns")),
    (r"interface:lo", receipt("network")),
    (r"mount:ro tmpfs /", receipt("mounts")),
    (r"mount:ro \w+ /(usr|opt|lib\w*|bin|sbin|etc|var/lib/python3)(/.*)?", security("read-only")),
    (r"mount:r[ow] \w+ /usr(/local)?/etc/\w+|device:/usr(/local)?/etc/(npmrc|pip.conf)",
     security("covered by an empty file")),
    (r"mount:rw (tmpfs|mqueue|devpts) /(tmp|dev/shm|dev/mqueue|dev/pts)", security("own pts and")),
    (r"mount:rw tmpfs {home}", security("a private home")),
    (r"mount:rw overlay {repo}", security("overlay at its real path")),
    (r"mount:ro \w+ /sys/devices/system/cpu", security("processor count and topology")),
    (r"mount:rw proc /proc|mount:ro proc /proc/.*", security("new, own pids")),
    (r"mount:ro \w+ (/.bawn/objects/\d+|{repo}/.*)", security("the whole history")),
    (r"mount:r[ow] overlay {home}/.*", security("lower-only overlays of subdirectories")),
    (r"host_path:.*", security("Names in `/proc/self/mountinfo`")),
    (r"writable:({home}|/dev/mqueue)", security("a private /tmp and a private home")),
]
# The host's own name spaces: what can be seen but not touched.
RESTRICTED = [
    (r"namespace_\w+:\w+|process:.*|interface:.*|unix_listener:.*|inet_socket:.*|pid1:.*",
     security("the host's processes are visible")),
    (r"mount:.*|mount_(suid|devices):.*|host_path:.*|same_as_host:.*|user_name:.*",
     security("file names and metadata outside the allowlist can be seen")),
    (r"sys:.*|setuid(_effective)?:.*", security("file names and metadata outside the allowlist")),
    # Nothing can be raised from it: no capability is held, and no_new_privs is on for good.
    (r"capabilities:CapBnd .*", receipt("caps")),
    # What the tool itself could not look at.
    (r"broken:network: .*", receipt("seccomp")),
    (r"broken:kernel_files: .*", receipt("landlock")),
]
AT = {"restricted": RESTRICTED, "isolated": ISOLATED, "bounded": ISOLATED}

HOST_FACTS = (
    ("host_name", "/proc/sys/kernel/hostname"), ("kernel", "/proc/sys/kernel/osrelease"),
    ("machine_id", "/etc/machine-id"), ("command_line", "/proc/cmdline"),
    ("boot_id", "/proc/sys/kernel/random/boot_id"),
)


def findings(box, repo, options=None):
    """Lines of the inventory; `options` None: outside, as the same user."""
    host = {name: Path(path).read_text(encoding="utf-8", errors="replace").strip()
            for name, path in HOST_FACTS if os.path.exists(path)}
    # By another program: this one changed its user, so its own /proc/self/ns is root's.
    listing = 'for n in /proc/self/ns/*; do echo "ns_${n##*/}=$(readlink "$n")"; done'
    spaces = box.command("sh", "-c", listing).expect(0).out
    host.update(line.split("=", 1) for line in spaces.splitlines())
    argv = ["/usr/bin/python3", "inventory.py", *(f"{k}={v}" for k, v in host.items())]
    if options is None:
        run = box.command(*argv, cwd=repo, seconds=200).expect(0)
        return run.out.splitlines(), {}
    run, told = box.receipt(*argv, options=("--ephemeral", "--quiet", *options), cwd=repo,
                            seconds=200)
    run.expect(0)
    check(len(run.out.splitlines()) > 40, f"too few findings\n{run.told()}")
    return run.out.splitlines(), told


def unmapped(box, repo, level, lines, told):
    """The findings that nothing accounts for."""
    names = {"repo": re.escape(repo), "home": re.escape(box.home),
             "user": re.escape(os.environ["USER"])}
    told_layers = told.get("containment", {}).get("layers", [])
    layers = {layer["name"]: layer["state"] for layer in told_layers}
    rows = []
    for pattern, account in EVERYWHERE + AT[level]:
        for name, text in names.items():
            pattern = pattern.replace("{" + name + "}", text)
        rows.append((re.compile(pattern), account))
    left = []
    for line in lines:
        account = next((a for pattern, a in rows if pattern.fullmatch(line)), None)
        if account is None:
            left.append(line)
        elif account[0] == "receipt" and layers.get(account[1]) != "held":
            left.append(f"{line} (layer {account[1]}: {layers.get(account[1])})")
        elif account[0] == "SECURITY.md" and account[1] not in SECURITY:
            left.append(f"{line} (SECURITY.md does not say {account[1]!r})")
    return left


def scene(box):
    """A repository with the tool in it, and a home with credentials at every known place."""
    repo = box.repo()
    shutil.copy(ROOT / "tests/payloads/inventory.py", f"{repo}/inventory.py")
    for name in CREDENTIALS:
        box.write(f"{box.home}/{name}", TOKEN + "\n", mode=0o600)
    return repo


@timeout(600)
def test_every_finding_inside_is_accounted_for(box):
    repo = scene(box)
    parts = []
    for level in levels.available(box, repo):
        lines, told = findings(box, repo, ("--level", level))
        left = unmapped(box, repo, level, lines, told)
        parts.append([level, "failed" if left else "passed", "\n".join(left[:40])])
    return parts


@timeout(300)
def test_control_the_same_tool_finds_what_is_outside(box):
    """Outside it must find what it is there to find, and the same table must not cover it."""
    repo = scene(box)
    box.command("mkfifo", f"{box.work}/pipe").expect(0)
    os.environ["SOME_TOKEN"] = "x"
    try:
        lines, _ = findings(box, repo)
    finally:
        del os.environ["SOME_TOKEN"]
    left = unmapped(box, repo, "isolated", lines, {})
    for expected in (f"credential:{re.escape(box.home)}/.ssh/id_rsa", "secret_variable:SOME_TOKEN",
                     f"fifo:{re.escape(box.work)}/pipe", "no_filter:0", "privileges_can_grow:0",
                     "namespace_shared:user", "capabilities:CapBnd .*", "setuid_effective:/usr/.*",
                     "process:N .*", "sys:(kernel|class).*"):
        check(any(re.match(expected, line) for line in left),
              f"outside it did not find {expected}\n" + "\n".join(left[:100]))
