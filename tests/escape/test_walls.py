"""The walls, one by one: in a build of pid 1 that can leave walls out by name (tests/walls), each
attack succeeds when its wall and all that overlap it are down, and is stopped by the next one when
only its own is. Shipped programs do not know the switch.

Seen at each level that this user has, through `run` and `run --in` (a kept sandbox, mounted again);
./dev test looks at some, ./dev accept at all. What the engine does before pid 1 starts (ENGINE)
cannot be left out there:
an attack that meets such a wall must be stopped by it alone, with all others of its line down, and
its control in test_attacks.py shows that it succeeds where that one is absent.
"""
import importlib.util
import json
import os
import shutil
from pathlib import Path

from support.marks import accept, as_builder, check, equal, release_only, timeout

HERE = Path(__file__).resolve().parent
SWITCH = "bawn-test-walls-down"
PROGRAMS = ("bawn", "bawn-keeper", "bawn-policy", "bawn-worker", "bawn-init")

# Walls that the test build can leave out: (name of the switch, layer of the receipt that says so;
# empty: none does).
SWITCHES = {"seccomp": ("seccomp", "seccomp"), "landlock": ("landlock", "landlock"),
            "capabilities": ("capabilities", "caps"), "no-new-privs": ("no-new-privs", "caps"),
            "rlimits": ("rlimits", ""), "pid1-dumpable": ("pid1-dumpable", ""),
            "user-limit": ("user-limit", "lids"), "proc-sys": ("user-limit", "lids"),
            "mounts": ("mounts", "mounts"), "overlay": ("mounts", "mounts"),
            "second-userns": ("second-userns", "mounts")}

# Walls that stand before pid 1 starts: (layer, who puts them up).
ENGINE = {"pid-namespace": ("pidns", "made by the engine's clone"),
          "network-namespace": ("network", "made by the engine's clone"),
          "ipc-namespace": ("", "made by the engine's clone"),
          "user-namespace": ("userns", "made by the engine's clone"),
          "uid": ("userns", "the ids are mapped by the engine"),
          "nosuid": ("mounts", "the kernel honours no setuid bit across user namespaces"),
          "nodev": ("mounts", "the kernel opens no device of a user namespace's own mounts"),
          "descriptors": ("", "closed by the engine before exec"),
          "inner-pty": ("", "the engine never hands the caller's terminal to pid 1")}

# Attacks, and walls of attacks, that are not judged here, each with why.
EXCEPT = {
    "x32": "this kernel has no such entry; its control cannot succeed either",
    "inner-pty": "without a filter it reaches the sandbox's terminal, which is not the caller's"}
ROOT_EXCEPT = {
    "mounts": "without the view the leased ids cannot enter the work tree, so no job starts",
    "overlay": "the same",
    "add_key": "the key that it leaves keeps the ids leased, and the run fails with that",
    "join_keyring": "the same, while the kernel has not collected its keyring"}

# Pid 1 and its job share one tree: what counts is the way through pid 1, to a file both see.
ARGS = {"proc_root": "{pid1} {shown} {token}", "proc_cwd": "{pid1} {shown} {token}"}

# At `restricted` pid 1 builds no view and no namespace: which of the three walls that have a switch
# there stop an attack. It succeeds with all three down and is stopped by each of its own alone.
# An attack that is not here meets what cannot be left out: an ordinary user's lack of capabilities,
# the scope of the guard (without it pid 1's own kill(-1) would reach the host), a pid 1 that is not
# dumpable, closed descriptors and the inner pty, the copy, which holds no socket and no FIFO.
RESTRICTED = {
    ("landlock",): """read_outside read_outside_tmp read_outside_state read_outside_home
        read_credentials write_outside create_outside create_in_state dotdot_walk hardlink_host
        symlink_out shared_memory_file proc_oom proc_sys_write mknod_whiteout""",
    ("seccomp",): """prlimit_other tiocsti tiocsti_bit32 tiocsti_bit63 tioclinux tiocsetd vsock
        vsock_bit32 vsock_bit63 netlink_netfilter netlink_bit32 netlink_uevent udp_loopback
        unix_socket_runtime sysv_shm io_uring userfaultfd perf_event add_key join_keyring
        personality_exec personality_bit32 modify_ldt fanotify unshare_user clone_user
        clone_user_bit32 clone3_user int80 ptrace_rewrite""",
    ("seccomp", "landlock"): "connect_loopback connect_loopback6",
    ("rlimits",): "core_dump"}
RESTRICTED_SWITCHES = ("seccomp", "landlock", "rlimits")

# What each ./dev test looks at: one attack per wall that has a switch.
QUICK = ("unshare_user", "mount_tmpfs", "write_outside", "proc_mem", "raw_socket",
         "no_new_privs_off", "core_dump", "mknod_whiteout")
# And at the other levels and ways.
QUICK_ELSEWHERE = ("unshare_user", "write_outside")
QUICK_RESTRICTED = ("unshare_user", "write_outside", "connect_loopback", "core_dump", "signal_host")


def attacks():
    """The table of the suite beside this one."""
    spec = importlib.util.spec_from_file_location("attacks", HERE / "test_attacks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLE = attacks()


def walls_of(name):
    """The wall and the walls that overlap it, as the program's first line says."""
    row = TABLE.ATTACKS[name]
    path = TABLE.PAYLOADS / f"{row.program or name}.c"
    head = TABLE.HEAD.match(path.read_text(encoding="utf-8").split("\n", 1)[0])
    walls = [head[1]] + ([] if head[2] == "-" else head[2].replace(" ", "").split(","))
    if "{pid1}" in row.args:  # of the attack's own sandbox: no namespace is between
        walls = [wall for wall in walls if wall != "pid-namespace"]
    return walls


class Walls:
    """A bawn whose pid 1 is the test build, in a directory of its own."""

    def __init__(self, box):
        self.box = box
        self.repo = box.repo()
        self.kept, self.number = None, 0  # (attack, level) of sandbox kept-NUMBER
        self.bin = f"{box.work}/walls"
        os.mkdir(self.bin)
        for program in PROGRAMS[:-1]:
            shutil.copy(f"{box.bin}/{program}", self.bin)
        shutil.copy(f"{box.build}/tests/bawn-init-walls", f"{self.bin}/bawn-init")

    def run(self, name, down, at=("isolated", "run"), harm=None):
        """(exit code, the attack's last line, the layers of the receipt) without these walls, in a
        sandbox of its own or in one that was made with every wall up. `harm`: what the attack aims
        at may be harmed; by default where a wall is down."""
        level, way = at
        row = TABLE.ATTACKS[name]
        shutil.copy(f"{self.box.payloads}/{row.program or name}", f"{self.repo}/attack")
        if way == "run --in":
            self.keep(name, level)
        where = ["--in", f"kept-{self.number}"] if way == "run --in" else ["--ephemeral"]
        self.box.write(f"{self.repo}/{SWITCH}", "".join(f"{SWITCHES[w][0]}\n" for w in down))
        receipt = f"{self.box.home}/receipt.json"
        prefix = [f"{self.bin}/bawn", "run", *where, "--quiet", "--level", level,
                  "--receipt", receipt, "--"]
        code, line = TABLE.perform(self.box, row, prefix, True, ARGS.get(name, row.args),
                                   own_pids=level != "restricted",
                                   harm=bool(down) if harm is None else harm)
        with open(receipt, "rb") as file:
            layers = json.load(file)["containment"]["layers"]
        return code, line, {layer["name"]: layer["state"] for layer in layers}

    def keep(self, name, level):
        """The sandbox that `--in` continues: one per attack, for what it leaves is kept too."""
        if self.kept == (name, level):
            return
        self.drop()
        self.box.write(f"{self.repo}/{SWITCH}", "")
        self.number += 1
        self.box.command(f"{self.bin}/bawn", "run", "--name", f"kept-{self.number}", "--level",
                         level, "--quiet", "--", "touch", "kept-by-test", cwd=self.repo).expect(0)
        self.kept = (name, level)

    def drop(self):
        if self.kept:
            self.box.command(f"{self.bin}/bawn", "discard", f"kept-{self.number}", "--yes",
                             cwd=self.repo).expect(0)
        self.kept = None


def is_stopped(code, line, by):
    """By its own word, or because a wall could not be put up without the one that is down."""
    return (code == 1 and line.startswith("stopped:")) or (
        code == 125 and "nothing ran" in line and any(f"({wall})" in line for wall in by))


def held(walls, layers):
    """The layers of these walls that the receipt calls held."""
    of_walls = [(SWITCHES.get(wall) or ENGINE[wall])[0 if wall in ENGINE else 1] for wall in walls]
    return [layer for layer in dict.fromkeys(of_walls) if layer and layers.get(layer) == "held"]


def part(name, what, good, seen):
    return [f"{name}: {what}", "passed" if good else "failed", seen]


def judge(walls, name, at=("isolated", "run")):
    """What one attack shows, as parts of the test's result."""
    if at[0] == "restricted":
        return judge_restricted(walls, name, at)
    line_of = walls_of(name)
    down = [wall for wall in line_of if wall in SWITCHES]
    fixed = [wall for wall in line_of if wall not in SWITCHES]
    parts = []
    code, line, layers = walls.run(name, down, at)
    if not fixed:
        parts.append(part(name, "succeeds with all down", code == 0, f"{code}: {line}"))
    else:
        parts.append(part(name, f"stopped by {', '.join(fixed)} alone",
                          is_stopped(code, line, fixed), f"{code}: {line}"))
    wrong = held(down, layers)
    parts.append(part(name, "the receipt says what is down", not wrong, f"held: {wrong}"))
    for wall in [] if fixed else line_of:
        code, line, layers = walls.run(name, [other for other in line_of if other != wall], at)
        parts.append(part(name, f"stopped by {wall} alone", is_stopped(code, line, [wall]),
                          f"{code}: {line}"))
    if line_of[0] in SWITCHES and len(line_of) > 1:
        code, line, layers = walls.run(name, line_of[:1], at)
        by = held(line_of[1:], layers)
        refused = code == 125 and is_stopped(code, line, line_of[1:])
        parts.append(part(name, f"stopped with only {line_of[0]} down",
                          refused or (by and is_stopped(code, line, by)),
                          f"{code}: {line}; held: {by}"))
    return parts


def restricted_walls(name):
    return next((walls for walls, names in RESTRICTED.items() if name in names.split()), ())


def judge_restricted(walls, name, at):
    own = restricted_walls(name)
    code, line, layers = walls.run(name, RESTRICTED_SWITCHES, at, harm=bool(own))
    wrong = held(RESTRICTED_SWITCHES, layers)
    parts = [part(name, "the receipt says what is down", not wrong, f"held: {wrong}")]
    if own:
        parts.append(part(name, "succeeds with all down", code == 0, f"{code}: {line}"))
    else:
        good = code == 1 and line.startswith("stopped:")
        # Without a domain of its own it takes its guard along; the witness outside lives.
        good = good or (name == "kill_everything" and code in (125, 137))
        parts.append(part(name, "stopped by what has no switch", good, f"{code}: {line}"))
    for wall in own:
        code, line, layers = walls.run(name, [w for w in RESTRICTED_SWITCHES if w != wall], at)
        parts.append(part(name, f"stopped by {wall} alone", is_stopped(code, line, [wall]),
                          f"{code}: {line}"))
    return parts


def judge_all(walls, names, at):
    parts = [[f"{' at '.join(reversed(at))}: {what}", *rest]
             for name in names for what, *rest in judge(walls, name, at)]
    walls.drop()
    return parts


def judged(box, level="isolated"):
    """The attacks with a wall that has a switch, but for those that EXCEPT and the like name; at
    `restricted` all that it claims to stop."""
    if level == "restricted":
        return [name for name, row in TABLE.ATTACKS.items() if row.restricted and name != "x32"]
    names = []
    for name in TABLE.ATTACKS:
        walls = set(walls_of(name))
        excepted = name in EXCEPT or walls & EXCEPT.keys()
        if box.is_root:
            excepted = excepted or name in ROOT_EXCEPT or walls & ROOT_EXCEPT.keys()
        if not excepted and walls & SWITCHES.keys():
            names.append(name)
    return names


@accept
@timeout(600)
def test_each_wall_is_seen_to_be_one(box):
    return judge_all(Walls(box), judged(box), ("isolated", "run"))


@accept
@timeout(900)
def test_each_wall_is_seen_to_be_one_in_a_kept_sandbox(box):
    return judge_all(Walls(box), judged(box), ("isolated", "run --in"))


@accept
@timeout(900)
def test_each_wall_is_seen_to_be_one_at_the_other_level(box):
    level = "bounded" if box.is_root else "restricted"
    return judge_all(Walls(box), judged(box, level), (level, "run"))


@accept
@timeout(900)
def test_each_wall_is_seen_to_be_one_in_a_kept_sandbox_at_the_other_level(box):
    level = "bounded" if box.is_root else "restricted"
    return judge_all(Walls(box), judged(box, level), (level, "run --in"))


def test_some_walls_are_seen_to_be_walls(box):
    names = [name for name in judged(box) if name in QUICK]
    return judge_all(Walls(box), names, ("isolated", "run"))


@timeout(120)
def test_some_walls_are_seen_to_be_walls_elsewhere(box):
    level, names = "bounded", QUICK_ELSEWHERE
    if not box.is_root:
        level, names = "restricted", QUICK_RESTRICTED
    parts, walls = [], Walls(box)
    for at, some in ((("isolated", "run --in"), QUICK_ELSEWHERE), ((level, "run"), names),
                     ((level, "run --in"), QUICK_ELSEWHERE)):
        parts += judge_all(walls, [name for name in judged(box, level) if name in some], at)
    return parts


def test_each_attack_is_judged_or_named(box):
    known = {**SWITCHES, **ENGINE}
    for name in TABLE.ATTACKS:
        check(all(wall in known for wall in walls_of(name)), f"{name}: {walls_of(name)}")
    rows = [name for names in RESTRICTED.values() for name in names.split()]
    equal(len(rows), len(set(rows)), "rows of RESTRICTED")
    equal(set(rows) - set(judged(box, "restricted")), set(), "no attack of that level")
    full = [name for name in judged(box) if all(wall in SWITCHES for wall in walls_of(name))]
    check(len(full) >= (54 if box.is_root else 70), f"{len(full)} attacks can be seen to succeed")


def test_with_every_wall_up_the_test_build_is_the_same(box):
    walls = Walls(box)
    code, line, layers = walls.run("unshare_user", [])
    equal(code, 1, line)
    equal(set(layers.values()), {"held"}, f"layers {layers}")
    check("canary:namespace" in layers, "the canaries ran")


@release_only
@as_builder
def test_no_shipped_program_knows_the_switch(box):
    """With the test build as the control: the same scan finds it there."""
    words = [SWITCH.encode(), b"ReadWallsDown", b"pid1-dumpable", b"second-userns"]
    control = Path(f"{box.build}/tests/bawn-init-walls").read_bytes()
    for word in words:
        check(word in control, f"control: {word} is not in the test build")
    prefix = f"{box.work}/prefix"
    box.command("cmake", "--install", box.build, "--prefix", prefix).expect(0)
    installed = [path for path in Path(prefix).rglob("*") if path.is_file()]
    equal({path.name for path in installed} >= set(PROGRAMS), True, f"installed: {installed}")
    for path in [*installed, *Path(box.bin).iterdir()]:
        data = path.read_bytes()
        for word in words:
            check(word not in data, f"{path} holds {word}")
