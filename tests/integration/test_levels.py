"""Levels: what each needs, holds and refuses; whole-tree limits by control groups at `bounded`; the
private copy of `restricted`; `none`, which is only the end of a tree."""
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from support import processes
from support.box import has_word, stop, wait_until
from support.marks import as_root, as_user, check, equal

GROUPS = "/sys/fs/cgroup"


def layer(receipt, name):
    found = [one for one in receipt["containment"]["layers"] if one["name"] == name]
    return found[0] if found else {"state": None, "verified_by": ""}


def find(argument):
    """Pids whose command line holds `argument`, but for bawn itself."""
    found = []
    for pid in processes.all_pids():
        facts = processes.status_of(pid)
        if facts and facts[0] not in "ZX" and argument in facts[2] and "bawn" not in facts[2]:
            found.append(pid)
    return found


def unique(number):
    """Seconds of a sleep that nobody else on this machine sleeps."""
    return f"9{os.getpid()}{number}"


def start(box, repo, script, *options):
    """A run whose job says "up" and goes on; its Popen."""
    process = box.start(box.bawn_path, "run", "--quiet", *options, "--", "sh", "-c", script,
                        cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                        stdin=subprocess.DEVNULL)
    equal(process.stdout.readline(), b"up\n", "the job's first line")
    return process


# A job that hides from its session and group: two forks and a session of its own.
def hidden(seconds):
    return (f"setsid sh -c 'sleep {seconds} & sleep {seconds}' & "
            f"(setsid sleep {seconds} &) ; sleep 0.2; echo up; exec sleep {seconds}")


# ---- bounded

@as_root
def test_the_default_of_root_is_bounded_and_measured(box):
    repo = box.repo()
    run, receipt = box.receipt("true", options=("--ephemeral",), cwd=repo)
    run.expect(0)
    equal(receipt["containment"]["obtained"], "bounded", "level")
    equal(receipt["sandbox_downgrade_reason"], None, "downgrade")
    equal(layer(receipt, "cgroup")["state"], "held", "layer cgroup")
    check("pids.max 4097" in layer(receipt, "cgroup")["verified_by"], "what was read back")
    for figure in ("pids_peak", "memory_peak_bytes", "cpu_ms"):
        check(receipt["usage"][figure] is not None, f"{figure} is null")


@as_root
def test_memory_is_held_for_the_whole_tree(box):
    """Eight processes of 24 MiB are each below the limit of 64 MiB, together above it."""
    repo = box.repo()
    one = "python3 -c \"x = bytearray(24 << 20); import time; time.sleep(20)\" &"
    run, receipt = box.receipt("sh", "-c", one * 8 + "wait; echo survived",
                               options=("--ephemeral", "--memory", "64MiB"), cwd=repo)
    run.expect(137)
    equal(receipt["outcome"]["kind"], "killed", "outcome")
    equal(receipt["outcome"]["killed_by"], "memory", "killed by")
    check("survived" not in run.out, "the job went on")
    peak = receipt["usage"]["memory_peak_bytes"]
    check(16 << 20 < peak <= 64 << 20, f"peak {peak}")
    equal(receipt["limits"]["memory"]["state"], "enforced", "state of the limit")
    control = box.run("sh", "-c", one.replace("20)", "0)") * 8 + "wait; echo survived",
                      options=("--ephemeral", "--memory", "1GiB"), cwd=repo).expect(0)
    check("survived" in control.out, control.told())


@as_root
def test_tmpfs_counts_as_memory_of_the_tree(box):
    repo = box.repo()
    run, receipt = box.receipt("sh", "-c", "head -c 200M /dev/zero >/tmp/x; echo survived",
                               options=("--ephemeral", "--memory", "64MiB"), cwd=repo)
    run.expect(137)
    equal(receipt["outcome"]["killed_by"], "memory", "killed by")


@as_root
def test_pids_are_held_for_the_whole_tree(box):
    repo = box.repo()
    run, receipt = box.receipt("sh", "-c", "b() { b | b & }; b; sleep 60; true",
                               options=("--ephemeral", "--pids", "50"), cwd=repo)
    run.expect(137)
    check(run.seconds < 30, "it spun on until the job ended by itself")
    equal(receipt["outcome"]["killed_by"], "pids", "killed by")
    check(receipt["usage"]["pids_peak"] <= 51, f"{receipt['usage']}: 50 and pid 1")
    box.run("sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 0.1 & done; wait",
            options=("--ephemeral", "--pids", "50"), cwd=repo).expect(0)


@as_root
def test_cpu_is_held_for_the_whole_tree(box):
    repo = box.repo()
    script = "import time\nend = time.monotonic() + 2\nwhile time.monotonic() < end: pass"
    run, receipt = box.receipt("sh", "-c", f"python3 -c '{script}' & python3 -c '{script}'; wait",
                               options=("--ephemeral", "--cpu", "0.25"), cwd=repo)
    run.expect(0)
    check(receipt["usage"]["cpu_ms"] < 1200, f"{receipt['usage']} in about 2 s of 0.25 CPUs")
    equal(receipt["limits"]["cpu"]["state"], "enforced", "state of the limit")


@as_root
def test_a_limit_of_a_live_sandbox_ends_every_job_in_it_and_each_says_why(box):
    repo = box.repo()
    box.run("true", options=("--keep", "--name", "live", "--memory", "64MiB", "--quiet"),
            cwd=repo).expect(0)
    neighbour = box.start(box.bawn_path, "run", "--in", "live", "--", "sh", "-c",
                          "echo up; exec sleep 60", cwd=repo, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    equal(neighbour.stdout.readline(), b"up\n", "the neighbour's first line")
    run, receipt = box.receipt("python3", "-c", "x = bytearray(200 << 20)",
                               options=("--in", "live"), cwd=repo)
    run.expect(137)
    equal(receipt["outcome"]["killed_by"], "memory", "killed by")
    equal(receipt["containment"]["obtained"], "bounded", "level")
    _, err = neighbour.communicate(timeout=20)
    equal(neighbour.returncode, 137, "the neighbour's code")
    check(b"memory" in err, f"the neighbour was told {err}")


def in_groups():
    """Processes in the control groups of sandboxes."""
    found = []
    for path in Path(GROUPS, "pids").glob("**/bawn-sb_*/cgroup.procs"):
        try:
            found += path.read_text(encoding="ascii").split()
        except OSError:  # removed meanwhile
            pass
    return found


@as_root
def test_the_job_that_lists_commits_is_in_the_group_as_well(box):
    """It is Bawn's own, but runs among what the payload left."""
    repo = box.repo()
    box.shell("for i in 1 2; do truncate -s 150M big$i; echo $i >>big$i; done; git add . && "
              "git commit -qm big; echo n >n", cwd=repo).expect(0)
    equal(in_groups(), [], "processes in groups before")
    publish = box.start(box.bawn_path, "publish", "-m", "x", "--unreviewed", cwd=repo,
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                        stdin=subprocess.DEVNULL)
    wait_until(in_groups, "the job in a control group", seconds=20)
    publish.wait(timeout=60)
    equal(in_groups(), [], "processes in groups after")
    box.bawn("discard", "--all", "--yes", cwd=repo).expect(0)


@as_root
def test_kill_9_leaves_no_control_group_after_the_next_command(box):
    repo = box.repo()
    process = start(box, repo, "echo up; exec sleep 1000")
    own = os.listdir(f"{box.state}/running")
    held = [path for name in own for path in Path(GROUPS).glob(f"*/**/bawn-{name}")]
    check(held, "no group while it runs: the test sees nothing")
    stop(process)
    box.bawn("list", cwd=repo).expect(0)
    equal([path for path in held if path.exists()], [], "control groups")
    box.bawn("discard", "--all", "--yes", cwd=repo).expect(0)


class Delegated:
    """Groups of memory, pids and cpu that belong to an ordinary user, who is in them."""
    UID = 64321

    def __init__(self, box):
        self.box = box
        self.directories = [Path(GROUPS, name, f"deleg-{os.getpid()}")
                            for name in ("memory", "pids", "cpu")]
        for directory in self.directories:
            directory.mkdir()
            for path in (directory, directory / "cgroup.procs", directory / "tasks"):
                os.chown(path, self.UID, self.UID)
        self.repo = box.repo("shared")
        for name in ("userhome", "userstate"):
            os.mkdir(f"{box.work}/{name}", 0o700)
            os.chown(f"{box.work}/{name}", self.UID, self.UID)
        os.chmod(box.work, 0o755)
        for base, names, files in os.walk(self.repo):
            for name in [".", *names, *files]:
                os.chown(f"{base}/{name}", self.UID, self.UID)

    def enter(self):
        for directory in self.directories:
            (directory / "tasks").write_text("0", encoding="ascii")
        os.setgroups([])
        os.setresgid(self.UID, self.UID, self.UID)
        os.setresuid(self.UID, self.UID, self.UID)

    def run(self, *options):
        receipt = f"{self.box.work}/userhome/receipt.json"
        run = self.box.command(
            self.box.bawn_path, "run", "--ephemeral", "--receipt", receipt, *options,
            cwd=self.repo, preexec_fn=self.enter,
            env={"HOME": f"{self.box.work}/userhome", "USER": "deleg", "XDG_RUNTIME_DIR": None,
                 "TMPDIR": None, "BAWN_STATE_DIR": f"{self.box.work}/userstate"})
        with open(receipt, "rb") as file:
            return run, json.load(file)

    def close(self):
        for directory in self.directories:
            wait_until(lambda d=directory: not (d / "tasks").read_text(encoding="ascii"), "empty")
            directory.rmdir()


@as_root
def test_an_ordinary_user_in_a_delegated_group_gets_bounded(box):
    delegated = Delegated(box)
    try:
        run, receipt = delegated.run("--memory", "64MiB", "--", "python3", "-c",
                                     "x = bytearray(200 << 20)")
        run.expect(137)
        equal(receipt["containment"]["obtained"], "bounded", "level")
        equal(receipt["outcome"]["killed_by"], "memory", "killed by")
        run, receipt = delegated.run("--", "sh", "-c", "echo 1 >/sys/fs/cgroup/memory/x")
        check(run.code != 0, run.told())
        equal(receipt["containment"]["obtained"], "bounded", "level without a limit")
    finally:
        delegated.close()


@as_user
def test_without_a_group_the_default_is_isolated_and_limits_are_refused(box):
    repo = box.repo()
    run, receipt = box.receipt("true", options=("--ephemeral",), cwd=repo)
    run.expect(0)
    equal(receipt["containment"]["obtained"], "isolated", "level")
    for options in (("--memory", "64MiB"), ("--cpu", "1"), ("--level", "bounded")):
        run = box.run("touch", "ran", options=("--ephemeral", *options), cwd=repo).expect(125)
        check(has_word(run.err, "delegated"), run.told())
    run, receipt = box.receipt("true", cwd=repo, options=(
        "--ephemeral", "--memory", "2GiB", "--cpu", "1", "--best-effort", "memory,cpu"))
    run.expect(0)
    equal(receipt["limits"]["memory"]["state"], "approximate", "memory")
    equal(receipt["limits"]["cpu"]["state"], "not_enforced", "cpu")


@as_root
def test_below_isolated_is_not_for_root(box):
    repo = box.repo()
    for level in ("restricted", "none"):
        run = box.run("touch", "ran", options=("--level", level), cwd=repo).expect(125)
        check(has_word(run.err, "host id 0"), run.told())
    check(not box.exists("repo/ran"), "it ran")


# ---- restricted

@as_user
def test_restricted_works_on_a_copy_and_review_means_the_same(box):
    repo = box.repo()
    run, receipt = box.receipt("sh", "-c", "echo four >>a.txt; echo n >n.txt; rm src/b.c; pwd",
                               options=("--level", "restricted", "--name", "r"), cwd=repo)
    run.expect(0)
    check(run.out.strip() != repo and "layers" in run.out, f"it ran in {run.out}")
    equal(receipt["containment"]["obtained"], "restricted", "level")
    check(receipt["workspace"]["rung"] in ("copy", "reflink"), "rung")
    for name in ("landlock", "seccomp", "scope", "caps", "canary:pathname_socket"):
        equal(layer(receipt, name)["state"], "held", name)
    equal(layer(receipt, "canary:host_pid")["state"], "off", "host pids are not promised")
    equal(box.read("repo/a.txt"), "one\ntwo\nthree\n", "a.txt outside")
    equal(box.names(repo), ["a.txt", "n.txt", "src/b.c"], "changed paths")
    box.run("sh", "-c", "git status --short >s; git log --oneline | wc -l; cat n.txt",
            options=("--in", "r"), cwd=repo).expect(0)
    equal(box.names(repo), ["a.txt", "n.txt", "s", "src/b.c"], "changed paths after --in")
    box.bawn("apply", "--unreviewed", "--path", "n.txt", cwd=repo).expect(0)
    equal(box.read("repo/n.txt"), "n\n", "n.txt applied")
    box.bawn("publish", "--unreviewed", "-m", "from a copy", "--branch", "b", cwd=repo).expect(0)
    check("from a copy" in box.git("log", "--oneline", "b", cwd=repo), "the commit")
    equal(box.git("diff", "--name-only", "main", "b", cwd=repo).split(),
          ["a.txt", "s", "src/b.c"], "published paths")


@as_user
def test_restricted_starts_in_the_callers_directory_of_the_copy(box):
    repo = box.repo()
    run = box.run("pwd", options=("--level", "restricted", "--ephemeral"), cwd=f"{repo}/src")
    check(run.expect(0).out.endswith("/src\n") and not run.out.startswith(repo), run.told())


@as_user
def test_restricted_refuses_what_it_cannot_hold(box):
    repo = box.repo()
    for options in (("--secret", "HOME"), ("--hide", "/usr/share"), ("--memory", "1GiB"),
                    ("--pids", "100")):
        run = box.run("touch", "ran", options=("--level", "restricted", *options), cwd=repo)
        run.expect(125)
        check(has_word(run.err, "hint"), run.told())


@as_user
def test_restricted_has_its_own_terminal_and_not_the_callers(box):
    repo = box.repo()
    run = box.run("sh", "-c", "test -t 0 && test -t 1 && echo tty; ls /dev/pts 2>&1; true",
                  options=("--level", "restricted", "--ephemeral", "-t"), cwd=repo).expect(0)
    check("tty" in run.out and has_word(run.out, "denied"), run.told())


@as_user
def test_a_restricted_sandbox_can_be_live(box):
    repo = box.repo()
    box.run("sh", "-c", "echo 1 >one", cwd=repo, options=(
        "--level", "restricted", "--keep", "--name", "live", "--quiet")).expect(0)
    run, receipt = box.receipt("sh", "-c", "cat one; echo 2 >two", options=("--in", "live"),
                               cwd=repo)
    equal(run.expect(0).out, "1\n", "what the first job left")
    equal(receipt["containment"]["obtained"], "restricted", "level")
    box.run("true", options=("--in", "live", "--level", "isolated"), cwd=repo).expect(125)
    equal(box.names(repo), ["one", "two"], "changed paths")
    box.bawn("discard", "live", "--yes", cwd=repo).expect(0)


def ends_everywhere(box, level):
    """The four ways in which a run ends, each with processes that left session and group."""
    repo = box.repo()
    options = ("--level", level, "--ephemeral")
    if level == "none":
        options = ("--level", level)
    seconds = unique(1)
    run = box.run("sh", "-c", hidden(seconds), options=(*options, "--timeout", "2s"), cwd=repo)
    run.expect(124)
    equal(find(f"sleep {seconds}"), [], "after the time limit")
    seconds = unique(2)
    box.run("sh", "-c", hidden(seconds).replace("exec sleep", "exit 0; "), options=options,
            cwd=repo).expect(0)
    equal(find(f"sleep {seconds}"), [], "after the main process")
    seconds = unique(3)
    process = start(box, repo, hidden(seconds), *options)
    check(find(f"sleep {seconds}"), "control: they are seen")
    stop(process)
    wait_until(lambda: not find(f"sleep {seconds}"), "kill -9 of bawn ends them", 5)
    box.bawn("list", cwd=repo).expect(0)


@as_user
def test_the_whole_tree_ends_at_restricted(box):
    ends_everywhere(box, "restricted")


@as_user
def test_the_whole_tree_ends_at_none(box):
    ends_everywhere(box, "none")


def helpers(process):
    """The pids of bawn's own processes below a run: the starter and, at restricted, the guard."""
    return [pid for pid in processes.descendants(process.pid)
            if processes.comm_of(pid).startswith("bawn-init")]


@as_user
def test_what_outlives_restricted_needs_both_helpers_killed_from_outside(box):
    """SECURITY.md: the guard ends the job when the starter dies, and the other way round."""
    repo = box.repo()
    options = ("--level", "restricted", "--ephemeral")
    for which in (0, 1):
        seconds = unique(4 + which)
        process = start(box, repo, hidden(seconds), *options)
        found = sorted(helpers(process))
        equal(len(found), 2, "a starter and a guard")
        os.kill(found[which], signal.SIGKILL)
        wait_until(lambda s=seconds: not find(f"sleep {s}"), f"helper {which} alone", 5)
        process.wait(20)
    seconds = unique(6)
    process = start(box, repo, hidden(seconds), *options)
    found = helpers(process)
    for pid in found:
        os.kill(pid, signal.SIGSTOP)  # neither may act on the other's death
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    process.wait(20)
    left = find(f"sleep {seconds}")
    check(left, "nothing outlived both: then SECURITY.md says too little of us")
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    box.bawn("list", cwd=repo).expect(0)


# ---- none

@as_user
def test_none_works_in_place_and_says_that_nothing_is_contained(box):
    repo = box.repo()
    run, receipt = box.receipt("sh", "-c", "pwd; echo n >n.txt", options=("--level", "none"),
                               cwd=repo)
    equal(run.expect(0).out, f"{repo}\n", "directory")
    check(has_word(run.err, "network is open"), run.told())
    equal(box.read("repo/n.txt"), "n\n", "written in place")
    equal(receipt["containment"]["obtained"], "none", "level")
    equal(receipt["workspace"]["mode"], "in_place", "mode")
    equal(layer(receipt, "network")["state"], "off", "network")
    check("open" in layer(receipt, "network")["verified_by"], "the receipt says it")
    check("in place" in receipt["unmeasured"]["workspace.added"], "why there is no count")
    plan = box.bawn("plan", "--level", "none", "--", "true", cwd=repo).expect(0)
    check(has_word(plan.out, "network is open"), plan.told())
    equal(box.kept(repo), [], "nothing to review")


@as_user
def test_none_is_only_by_its_word(box):
    repo = box.repo()
    box.run("true", options=("--ephemeral",), cwd=repo, env={"BAWN_LEVEL": "none"}).expect(0)
    _, receipt = box.receipt("true", options=("--ephemeral",), cwd=repo,
                             env={"BAWN_LEVEL": "none"})
    check(receipt["containment"]["obtained"] != "none", "a floor is no off switch")
    box.run("touch", "ran", options=("--level", "none", "--keep"), cwd=repo).expect(125)
    box.run("touch", "ran", options=("--level", "none"), cwd=repo,
            env={"BAWN_LEVEL": "restricted"}).expect(125)
    check(not box.exists("repo/ran"), "it ran")


@as_user
def test_none_carries_the_jobs_own_code_and_streams(box):
    repo = box.repo()
    run = box.run("sh", "-c", "cat; echo err >&2; exit 7", cwd=repo, stdin=b"in",
                  options=("--level", "none", "--quiet")).expect(7)
    equal((run.out, run.err), ("in", "err\n"), "streams")
    check(shutil.which("sleep"), "control")
    begin = time.monotonic()
    box.run("sleep", "60", options=("--level", "none", "--timeout", "1s", "--quiet"),
            cwd=repo).expect(124)
    check(time.monotonic() - begin < 20, "the deadline")
