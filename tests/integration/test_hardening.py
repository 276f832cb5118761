"""Findings of the design's own attack on itself (RT-nn) that need more than one attack program."""
import os
import pwd
import re
import subprocess
from pathlib import Path

from support import digest
from support.box import stop, wait_until
from support.marks import as_root, check, equal, timeout


def own_range():
    """(first, count) of Bawn's own line."""
    lines = Path("/etc/subuid").read_text(encoding="ascii").splitlines()
    _, first, count = next(line for line in lines if line.startswith("bawn:")).split(":")
    return int(first), int(count)


@as_root
def test_rt10_root_does_not_work_in_the_tree_of_somebody_else(box):
    """What root wrote there would be root's and break the owner's git: refused, with the way."""
    owner = pwd.getpwnam("games").pw_uid
    repo = box.repo()
    box.command("chown", "-R", f"{owner}:{owner}", repo).expect(0)
    before = digest.tree(repo, pins=True)
    run = box.shell("echo n >n.txt", cwd=repo).expect(125)
    check("games" in run.err and "runuser" in run.err, run.told())
    equal(digest.difference(before, digest.tree(repo, pins=True)), [], "the tree")


@as_root
def test_rt10_root_reads_no_repository_of_somebody_else(box):
    """Its links and its configuration would be followed with root's rights, at open, review and
    publish: also where only .git is another's, and where the tree changed hands since the run."""
    secret = box.write("secret", "[user]\n\tname = token-3f9d1c\n", 0o600)
    owner = pwd.getpwnam("games").pw_uid
    repo = box.repo()
    box.shell("echo n >n.txt", options=("--name", "k"), cwd=repo).expect(0)
    git = f"{repo}/.git"
    with open(f"{git}/config", "a", encoding="ascii") as config:
        config.write(f"[include]\n\tpath = {secret}\n"
                     f"[core]\n\thooksPath = {box.work}/hooks\n")
    box.git("branch", "b", cwd=repo)
    os.unlink(f"{git}/refs/heads/b")
    os.symlink(secret, f"{git}/refs/heads/b")
    with open(f"{git}/objects/info/alternates", "w", encoding="ascii") as alternates:
        alternates.write(f"{box.work}\n")
    box.command("chown", "-hR", f"{owner}:{owner}", git).expect(0)
    before = digest.tree(repo, pins=True)
    for command in (["run", "--", "true"], ["plan", "--", "true"], ["diff", "k"],
                    ["publish", "k", "-m", "x", "--unreviewed"],
                    ["apply", "k", "--unreviewed"], ["run", "--in", "k", "--", "true"]):
        refused = box.bawn(*command, cwd=repo)
        check(refused.code in (1, 125), refused.told())
        check("games" in refused.err and "runuser" in refused.err, refused.told())
        check("token" not in refused.err, refused.told())
    equal(digest.difference(before, digest.tree(repo, pins=True)), [], "the tree")
    box.command("chown", "-hR", "0:0", git).expect(0)
    os.unlink(f"{git}/refs/heads/b")
    box.bawn("apply", "k", "--unreviewed", cwd=repo).expect(0)  # control: nothing was lost


def test_rt10_a_file_closed_to_everybody_is_reviewed_and_published(box):
    repo = box.repo()
    box.shell("echo closed >closed.txt; chmod 000 closed.txt", cwd=repo).expect(0)
    equal(box.names(repo), ["closed.txt"], "names")
    box.bawn("publish", "-m", "x", "--unreviewed", "--branch", "x", cwd=repo).expect(0)
    equal(box.git("show", "x:closed.txt", cwd=repo), "closed", "published")
    strangers = box.command("find", repo, "!", "-uid", str(os.getuid())).expect(0).out
    equal(strangers, "", "entries of somebody else")


def test_rt11_a_git_directory_full_of_lies_is_never_opened(box):
    """Objects, packs, refs and alternates that the payload made: files are published, the host's
    repository stays whole, and nothing of another repository comes along."""
    secret = box.repo("secret", {"s.txt": "secret\n"})
    stolen = box.git("rev-parse", "HEAD", cwd=secret)
    repo = box.repo()
    refs = box.git("for-each-ref", cwd=repo)
    box.shell(f"""
        echo n >n.txt
        cd .git
        echo {secret}/.git/objects >>objects/info/alternates
        mkdir -p refs/heads/a objects/pack refs/heads/..x
        echo {stolen} >refs/heads/stolen; echo {stolen} >HEAD
        ln -s /etc/passwd refs/heads/link; ln -sf ../../../../../etc/passwd packed-refs
        printf 'PACK\\0\\0\\0\\2\\377\\377\\377\\377' >objects/pack/pack-{'1' * 40}.pack
        printf '\\377tOc\\0\\0\\0\\2' >objects/pack/pack-{'1' * 40}.idx
        mkdir -p objects/ab; echo junk >objects/ab/{'c' * 38}
        head -c 100000 /dev/zero >index; mkfifo commondir; chmod 000 objects/info""",
              cwd=repo).expect(0)
    equal(box.names(repo), ["n.txt"], "names")
    box.bawn("publish", "-m", "x", "--unreviewed", "--branch", "x", "--squash", cwd=repo).expect(0)
    equal(box.git("ls-tree", "-r", "--name-only", "x", cwd=repo).split(),
          ["a.txt", "n.txt", "src/b.c"], "published")
    box.git("branch", "-q", "-D", "x", cwd=repo)
    left = [line for line in box.git("for-each-ref", cwd=repo).split("\n")
            if "refs/bawn" not in line]
    equal("\n".join(left), refs, "refs")
    box.git("fsck", "--strict", cwd=repo)
    check(box.command("git", "cat-file", "-e", stolen, cwd=repo).code != 0, "an object was stolen")


def test_rt13_the_upper_is_volatile_and_durable_soon_after(box):
    """No sync on the way to the answer; the marker of overlayfs is gone once it has been done."""
    repo = box.repo()
    run = box.shell("echo n >n.txt; grep ' overlay ' /proc/self/mountinfo", cwd=repo).expect(0)
    line = next(line for line in run.out.splitlines() if f" {repo} " in line)
    check("volatile" in line, f"not volatile: {line}")
    equal(box.names(repo), ["n.txt"], "names")

    def markers():
        return subprocess.run(["find", box.state, "-path", "*incompat/volatile"],
                              capture_output=True, text=True, check=False).stdout

    wait_until(lambda: not markers(), "the write-back ends and takes the marker away", 60)
    box.bawn("discard", "--yes", cwd=repo).expect(0)


def test_rt20_with_the_network_off_there_is_loopback_and_nothing_else(box):
    repo = box.repo()
    script = r"""
import errno, socket, struct, time
assert [n for _, n in socket.if_nameindex()] == ["lo"]
routes = open("/proc/net/route").read().splitlines()[1:]
assert not routes, routes
for line in open("/proc/net/ipv6_route"):
    assert line.split()[-1] == "lo", line
for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"),
                        (socket.AF_INET, "169.254.169.254"), (socket.AF_INET, "10.0.0.1")):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        start = time.monotonic()
        try:
            socket.socket(family, kind).connect((address, 53))
            raise SystemExit(f"{address} has a route")
        except OSError as e:
            assert e.errno in (errno.ENETUNREACH, errno.EADDRNOTAVAIL), e
        assert time.monotonic() - start < 0.1
start = time.monotonic()
try:
    socket.getaddrinfo("example.com", 443)
    raise SystemExit("a name was resolved")
except socket.gaierror: pass
assert time.monotonic() - start < 2, "a name took its time"
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "127.3.2.1"),
                        (socket.AF_INET6, "::1")):
    s = socket.socket(family); s.bind((address, 0)); s.listen()
    c = socket.create_connection(s.getsockname()[:2], 1); c.close()
# An address or a link cannot be added: no capability in this network namespace.
n = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
n.send(struct.pack("IHHII", 32, 16, 0x605, 1, 0) + struct.pack("BxHiII", 0, 0, 0, 0, 0))
reply = n.recv(4096)
assert struct.unpack("i", reply[16:20])[0] < 0, reply
try:
    open("/dev/net/tun", "rb+"); raise SystemExit("a TUN device")
except OSError: pass
print("held")
"""
    box.write(f"{repo}/net.py", script)
    run = box.run("/usr/bin/python3", "net.py", options=("--ephemeral",), cwd=repo).expect(0)
    equal(run.out, "held\n", "the script")


def test_rt29_only_what_the_promise_names_is_written(box):
    """Outside Bawn's own state: one pin ref and one pinned index while changes wait, nothing after
    discard; a path given by --rw, which plan, receipt and diff list."""
    repo = box.repo()
    box.write("shared/old.txt", "old\n")
    os.chmod(f"{box.work}/shared", 0o777)
    os.chmod(box.work, 0o755)  # as root the payload has an id of its own, which must get there
    roots = (box.work, box.home, os.environ["XDG_RUNTIME_DIR"], box.tmp)
    before = digest.tree(*roots, pins=True)
    run, receipt = box.receipt("sh", "-c", f"echo n >n.txt; echo w >{box.work}/shared/new.txt",
                               options=("--rw", f"{box.work}/shared"), cwd=repo)
    run.expect(0)
    equal(receipt["direct_writes"], [f"{box.work}/shared"], "direct_writes")
    identity = receipt["sandbox_id"]
    after = digest.tree(*roots, pins=True)
    told = [line for line in digest.difference(before, after)
            if not re.fullmatch(rf"new: {re.escape(repo)}/\.git/(bawn|refs/bawn|refs/bawn/base|"
                                rf"bawn/{identity}\.index|refs/bawn/base/{identity})", line)]
    equal(told, [f"new: {box.work}/shared/new.txt"], "what changed on the host")
    for verb in (("diff",), ("show",), ("plan", "--rw", f"{box.work}/shared", "--", "true")):
        run = box.bawn(*verb, cwd=repo).expect(0)
        check(f"{box.work}/shared" in run.out + run.err, f"not named\n{run.told()}")
    box.bawn("discard", "--yes", cwd=repo).expect(0)
    os.unlink(f"{box.work}/shared/new.txt")
    equal(digest.difference(before, digest.tree(*roots, pins=True)), [], "left after discard")


def uids_of(name):
    """{uid} of the host for every process whose command line holds `name` as a word."""
    found = set()
    for pid in os.listdir("/proc"):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if name.encode() in words and words[0] == b"sleep":
                found.add(os.stat(f"/proc/{pid}").st_uid)
        except OSError:
            pass
    return found


@as_root
def test_rt30_every_sandbox_has_ids_of_its_own(box):
    """From Bawn's own range, never 0, never two at once, not while changes of theirs are kept."""
    repo = box.repo()
    seconds = [f"9{os.getpid()}{n}" for n in range(3)]
    jobs = [box.start(box.bawn_path, "run", "--ephemeral", "--quiet", "--", "sleep", s, cwd=repo,
                      stdin=subprocess.DEVNULL) for s in seconds]
    try:
        wait_until(lambda: all(uids_of(s) for s in seconds), "the jobs run", 20)
        uids = [uids_of(s) for s in seconds]
    finally:
        for job in jobs:
            stop(job)
    box.bawn("list", cwd=repo).expect(0)
    flat, (first, count) = set().union(*uids), own_range()
    equal(len(flat), 3, f"ids of three jobs ({uids})")
    for uid in flat:
        check(first <= uid < first + count, f"{uid} is not of Bawn's range")

    box.shell("echo n >kept.txt", cwd=repo).expect(0)
    found = subprocess.run(["find", box.state, "-name", "kept.txt", "-printf", "%U"],
                           capture_output=True, text=True, check=True).stdout
    kept = {int(found)} if found else set()
    for number in range(4):
        name = f"8{os.getpid()}{number}"
        job = box.start(box.bawn_path, "run", "--ephemeral", "--quiet", "--", "sleep", name,
                        cwd=repo, stdin=subprocess.DEVNULL)
        try:
            wait_until(lambda n=name: uids_of(n), "the job runs", 20)
            check(not uids_of(name) & kept, f"{kept} has a file and was given away again")
        finally:
            stop(job)
    box.bawn("list", cwd=repo).expect(0)
    box.bawn("discard", "--yes", cwd=repo).expect(0)


def test_rt30_what_a_job_writes_by_rw_is_the_owners(box):
    """As root, too: a leased id on a file of the host would be the next sandbox's."""
    repo = box.repo()
    os.chmod(box.work, 0o755)
    owners = {"mine": os.getuid()}
    if box.is_root:
        owners["games"] = pwd.getpwnam("games").pw_uid
    for name, owner in owners.items():
        shared = f"{box.work}/{name}"
        box.write(f"{shared}/old.txt", "old\n", 0o600)
        os.makedirs(f"{shared}/below")
        os.chmod(shared, 0o700)
        if box.is_root:
            box.command("chown", "-R", f"{owner}:{owner}", shared).expect(0)
        box.shell(f"cd {shared}; cat old.txt; echo n >>old.txt; echo n >new.txt; mkdir sub; "
                  "echo n >sub/x; ln -s x sub/l; mv new.txt below/moved.txt",
                  options=("--rw", shared), cwd=repo).expect(0)
        equal(box.read(f"{shared}/old.txt"), "old\nn\n", "a file of the owner")
        uids = {os.lstat(path).st_uid for path in Path(shared).rglob("*")}
        equal(uids, {owner}, f"owners below {shared}")


@as_root
def test_rt17_a_mount_below_rw_is_not_left_out_without_a_word(box):
    repo = box.repo()
    os.chmod(box.work, 0o755)
    below = f"{box.work}/shared/below"
    os.makedirs(below)
    script = ('mount -t tmpfs none "$1"; echo n >"$1/n"; shift; exec "$@"')
    command = (box.bawn_path, "run", "--rw", f"{box.work}/shared", "--", "cat", f"{below}/n")
    run = box.command("unshare", "--mount", "sh", "-c", script, "sh", below, *command,
                      cwd=repo).expect(125)
    check(below in run.err and "mounted" in run.err, run.told())
    box.run("ls", below, options=("--rw", f"{box.work}/shared"), cwd=repo).expect(0)  # control


def test_rt25_a_job_that_writes_to_the_host_leaves_no_set_id_program(box):
    """It would run as the directory's owner for whoever starts it."""
    repo = box.repo()
    os.chmod(box.work, 0o755)
    shared = f"{box.work}/shared"
    os.makedirs(shared)
    attack = """
import os, sys
os.chdir(sys.argv[1])
def chmod(mode): open("a", "w"); os.chmod("a", mode)
def fchmod(mode): os.fchmod(os.open("b", os.O_CREAT | os.O_RDWR), mode)
def create(mode): os.umask(0); os.open("c", os.O_CREAT | os.O_RDWR, mode)
def node(mode): os.mknod("d", 0o100000 | mode)
for way in chmod, fchmod, create, node:
    for mode in 0o4755, 0o2755:
        try: way(mode)
        except OSError as error: print(way.__name__, error.strerror)
        for name in os.listdir("."):
            if os.lstat(name).st_mode & 0o6000: print("set", name)
            os.unlink(name)
"""
    box.write(f"{repo}/attack.py", attack)
    command = ("/usr/bin/python3", f"{repo}/attack.py")
    run = box.run(*command, shared, options=("--rw", shared), cwd=repo).expect(0)
    check("set" not in run.out.split(), f"set-id files on the host\n{run.told()}")
    equal(run.out.count("Operation not permitted"), 8, run.told())
    os.makedirs(f"{repo}/inside")
    run = box.run(*command, f"{repo}/inside", options=("--ephemeral",), cwd=repo).expect(0)
    check("set" in run.out.split(), f"the control: with no --rw it is the sandbox's\n{run.told()}")


def test_rt32_the_mount_table_names_no_stranger(box):
    """Host paths in it are of the work tree, of Bawn's state, or where they are shown (a promise
    that is not made; SECURITY.md says so)."""
    repo = box.repo()
    box.write("elsewhere/x", "x\n")
    run = box.run("cat", "/proc/self/mountinfo", options=("--ephemeral",), cwd=repo).expect(0)
    # Handed over as a descriptor, a layer is named by where it is hidden meanwhile.
    allowed = (repo, box.state, "/proc/")
    for line in run.out.splitlines():
        path, options = line.split()[4], line.split(" - ")[1].split()[2]
        for word in options.split(","):
            if re.match(r"(lower|upper|work)dir\+?=", word):
                check(word.split("=", 1)[1].startswith(allowed), f"{path}: {word}")
    check("elsewhere" not in run.out, "a neighbour of the work tree is named")


@timeout(240)
def test_rt34_two_applies_and_two_publishes_take_turns(box):
    """A lock per tree and per ref: both acts are whole, or one says that the other is at it."""
    repo = box.repo(files={f"f{i}.txt": "base\n" for i in range(200)})
    for name, first in (("one", 0), ("two", 100)):
        box.shell(f"for i in $(seq {first} {first + 99}); do echo {name} >f$i.txt; done",
                  options=("--name", name), cwd=repo).expect(0)
    jobs = [box.start(box.bawn_path, "apply", "--unreviewed", name, cwd=repo,
                      stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) for name in ("one", "two")]
    ends = [(job.communicate(timeout=60)[1], job.returncode) for job in jobs]
    for (told, code), name in zip(ends, ("one", "two")):
        if code != 0:
            check(b"bawn: " in told, f"{name}: code {code}, {told!r}")
            box.bawn("apply", "--unreviewed", name, cwd=repo).expect(0)
    for i in range(200):
        equal(box.read(f"repo/f{i}.txt"), "one\n" if i < 100 else "two\n", f"f{i}.txt")
    box.commit(repo, "applied")

    for name in ("three", "four"):
        box.shell(f"echo {name} >{name}.txt", options=("--name", name), cwd=repo).expect(0)
    jobs = [box.start(box.bawn_path, "publish", "-m", name, "--unreviewed", "--branch", "shared",
                      name, cwd=repo, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                      stderr=subprocess.PIPE) for name in ("three", "four")]
    ends = [(job.communicate(timeout=60)[1], job.returncode) for job in jobs]
    check(any(code == 0 for _, code in ends), f"neither was published: {ends}")
    for (told, code), name in zip(ends, ("three", "four")):
        there = f"{name}.txt" in box.git("log", "--format=", "--name-only", "shared", cwd=repo)
        equal(there, code == 0, f"{name} was published ({told!r})")
        equal(name in box.kept(repo), code != 0, f"{name} is kept")
    box.git("fsck", "--strict", cwd=repo)
