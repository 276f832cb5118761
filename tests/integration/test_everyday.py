"""What makes people switch a sandbox off: the everyday kinds E-01 to E-30 that concern `run`."""
import os
import shutil
import signal
import subprocess
import time

from support.box import bawn_lines
from support.marks import check, equal


def inside(box, script, cwd, **more):
    """Output of a shell script in a fresh ephemeral sandbox; must end with 0."""
    return box.run("sh", "-c", script, options=("--ephemeral",), cwd=cwd, **more).expect(0).out


def test_e01_whatever_exec_takes_run_takes(box):
    repo = box.repo()
    args = ["x" * 120_000] * 15
    native = box.command("/usr/bin/printf", "%s", *args).expect(0).out_bytes
    run = box.run("/usr/bin/printf", "%s", *args, options=("--ephemeral",), cwd=repo).expect(0)
    equal(len(run.out_bytes), len(native), "bytes of 1.8 MB of arguments")
    env = {f"BIG_{i}": "y" * 120_000 for i in range(12)}
    passed = [word for name in env for word in ("--pass-env", name)]
    run = box.run("sh", "-c", 'printf %s "$BIG_0$BIG_11" | wc -c', cwd=repo, env=env,
                  options=("--ephemeral", *passed)).expect(0)
    equal(run.out.strip(), "240000", "bytes of two variables")


def test_e01_what_exec_refuses_is_126_with_the_kernels_reason(box):
    repo = box.repo()
    # Fills what is left of the kernel's 2 MiB for arguments and environment; the job's environment
    # is larger than this one, so the job's exec is refused although bawn's own was not.
    room = 2 * 1024 * 1024 - 4096
    args = ["x" * 100_000] * 20
    args.append("y" * (room - sum(len(a) + 9 for a in args) - 9 - 600))
    run = box.command(box.bawn_path, "run", "--ephemeral", "--env", "A=" + "z" * 400, "--env",
                      "B=" + "z" * 120, "--", "true", *args, cwd=repo)
    if run.code == 0:
        return  # it fitted after all: nothing was refused
    run.expect(126)
    lines = bawn_lines(run.err)
    check(len(lines) == 1 and ("E2BIG" in lines[0] or "too long" in lines[0].lower()), run.told())


def test_e07_two_streams_into_one_file_keep_their_order(box):
    repo = box.repo()
    script = "i=0; while [ $i -lt 300 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done"
    native = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, check=True).stdout
    for _ in range(10):
        out = subprocess.run([box.bawn_path, "run", "--ephemeral", "--quiet", "--", "sh", "-c",
                              script], cwd=repo, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=True).stdout
        equal(out, native, "mixed output")


def test_e07_logs_of_a_mixed_job(box):
    repo = box.repo()
    box.shell("echo o1; echo e1 >&2; echo x >x", cwd=repo).expect(0)
    run = box.bawn("logs", cwd=repo).expect(0)
    check("o1" in run.out and "e1" in run.out + run.err, run.told())


def test_e17_identity_is_the_one_git_reports_here(box):
    repo = box.repo()
    box.git("config", "--unset", "user.email", cwd=repo)
    box.git("config", "--unset", "user.name", cwd=repo)
    box.write(f"{box.home}/.gitconfig", "[user]\n\tname = Plain\n\temail = plain@example.com\n"
              f"[includeIf \"gitdir:{box.work}/\"]\n\tpath = .gitconfig-work\n")
    box.write(f"{box.home}/.gitconfig-work", "[user]\n\temail = work@example.com\n")
    host = box.git("var", "GIT_AUTHOR_IDENT", cwd=repo).rsplit(" ", 2)[0]
    equal(host, "Plain <work@example.com>", "identity on the host")
    out = box.shell("git var GIT_AUTHOR_IDENT; echo x >x", cwd=repo).expect(0).out
    equal(out.rsplit(" ", 2)[0], host, "identity inside")
    box.bawn("publish", "-m", "x", "--unreviewed", "--branch", "bawn/x", cwd=repo).expect(0)
    equal(box.git("log", "-1", "--format=%an <%ae>", "bawn/x", cwd=repo), host, "author")


def test_e17_no_identity_is_a_refusal_that_says_so(box):
    repo = box.repo()
    box.git("config", "--unset", "user.email", cwd=repo)
    box.git("config", "--unset", "user.name", cwd=repo)
    box.shell("echo x >x", cwd=repo).expect(0)
    run = box.bawn("publish", "-m", "x", "--unreviewed", cwd=repo).expect(1)
    check("user.email" in run.err or "identity" in run.err, run.told())


def test_e21_a_workspace_entered_through_a_link(box):
    repo = box.repo()
    os.symlink(repo, f"{box.work}/link")
    spelled = f"{box.work}/link/src"
    run = box.run("sh", "-c", "pwd -P; cat b.c; echo x >x", cwd=spelled,
                  env={"PWD": spelled}).expect(0)
    equal(run.out, f"{repo}/src\nint b;\n", "output")
    equal(box.names(repo), ["src/x"], "names by the real spelling")
    equal(box.names(f"{box.work}/link"), ["src/x"], "names by the other spelling")
    run = box.bawn("diff", "--names", "-z", "-w", f"{box.work}/link", cwd="/").expect(0)
    equal(run.out_bytes, b"src/x\0", "names by -w")


def test_e22_modes_are_not_published_where_git_does_not_track_them(box):
    repo = box.repo()
    box.git("config", "core.fileMode", "false", cwd=repo)
    box.shell("chmod 755 a.txt src/b.c; echo x >>a.txt", cwd=repo).expect(0)
    equal(box.names(repo), ["a.txt"], "names")
    check("mode" not in box.bawn("diff", cwd=repo).expect(0).out, "diff shows a mode")
    box.bawn("publish", "-m", "x", "--unreviewed", "--branch", "bawn/x", cwd=repo).expect(0)
    equal(box.git("ls-tree", "bawn/x", "a.txt", cwd=repo).split()[0], "100644", "mode")


def test_e24_users_and_groups_resolve(box):
    repo = box.repo()
    out = inside(box, "id; id -un; id -gn; getent passwd root nobody \"$(id -un)\" | wc -l; "
                      "getent passwd 0 | cut -d: -f1; tar cf - a.txt | tar tf -", repo)
    check("cannot find name" not in out, out)
    lines = out.split("\n")
    equal(lines[3:6], ["3", "root", "a.txt"], "users by name and number, and tar")
    if shutil.which("ssh"):
        inside(box, "ssh -G localhost >/dev/null", repo)


def test_e25_the_time_zone_keeps_its_name(box):
    repo = box.repo()
    script = ("readlink /etc/localtime; cat /etc/timezone 2>/dev/null; date +%Z; "
              "python3 -c 'import time; print(time.tzname)'")
    native = box.command("sh", "-c", script).out
    equal(inside(box, script, repo), native, "time zone")


def test_e27_default_actions_and_an_empty_mask(box):
    repo = box.repo()

    def hostile():
        for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR2})

    run = box.run("sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status; yes | head -n 1; "
                  "trap 'echo TRAP' TERM; kill -TERM $$", options=("--ephemeral",), cwd=repo,
                  preexec_fn=hostile, restore_signals=False).expect(0)
    equal(run.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\ny\nTRAP\n", "signals")


def test_e27_a_broken_stdout_ends_the_run(box):
    repo = box.repo()
    with box.start(box.bawn_path, "run", "--ephemeral", "--", "yes", cwd=repo,
                   stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        process.stdout.read(10)
        process.stdout.close()
        code = process.wait(10)
    check(code in (128 + 13, -13), f"exit code {code}")


def test_e28_own_name_and_localhost_resolve_at_once(box):
    repo = box.repo()
    host = box.command("hostname").out.strip()
    out = inside(box, "hostname; getent ahosts \"$(hostname)\" localhost | cut -d' ' -f1 | sort -u",
                 repo, seconds=5)
    lines = out.split("\n")
    check(lines[0] and lines[0] != host, f"host name inside: {lines[0]!r}")
    check("127.0.0.1" in lines, out)
    start = box.run("sh", "-c", "getent hosts $(hostname); getent hosts localhost",
                    options=("--ephemeral",), cwd=repo).expect(0)
    check(start.seconds < 2, f"took {start.seconds:.2f} s")


def test_e30_copied_up_but_equal_is_no_change(box):
    repo = box.repo(files={"a.txt": "a\n" * 1000, "b.txt": "b\n"})
    box.run("sh", "-c", "ln a.txt other && rm other && chmod 600 b.txt && chmod 644 b.txt && "
            "touch a.txt && git status --porcelain", cwd=repo).expect(0)
    equal(box.kept(repo), [], "kept sandboxes")
    _, receipt = box.receipt("sh", "-c", "ln a.txt other && rm other; echo n >n", cwd=repo)
    equal(box.names(repo), ["n"], "names")
    equal((receipt["workspace"]["added"], receipt["workspace"]["modified"]), (1, 0), "counts")


def test_e03_protected_names_inside_the_workspace(box):
    repo = box.repo(files={"tls.pem": "tracked certificate\n", ".env.example": "A=\n", "a": "a\n"})
    box.write(f"{repo}/.env", "SECRET=1\n")
    box.write(f"{repo}/.git/info/exclude", ".env\nvenv\n")
    box.write(f"{repo}/venv/lib/python3/site-packages/certifi/cacert.pem", "bundle\n")
    run, receipt = box.receipt(
        "sh", "-c", "wc -c <tls.pem; wc -c <.env.example; cat .env; git status --porcelain; "
        "wc -c <venv/lib/python3/site-packages/certifi/cacert.pem", cwd=repo)
    run.expect(0)
    equal(run.out.split(), ["20", "3", "7"], "sizes")
    check(".env" in str(receipt), "the receipt does not name .env")
    equal(box.kept(repo), [], "kept sandboxes")


def test_e02_an_interpreter_outside_the_closed_table_of_directories(box):
    repo = box.repo()
    real = ".local/share/uv/python/cpython-3.12/bin/python3"
    box.write(f"{box.home}/{real}", "#!/bin/sh\necho 42\n", mode=0o755)
    box.write(f"{box.home}/.local/share/uv/credentials/token", "secret\n")
    box.write(f"{box.home}/.local/share/other/file", "x\n")
    os.makedirs(f"{repo}/.venv/bin")
    os.symlink(f"{box.home}/{real}", f"{repo}/.venv/bin/python")
    out = inside(box, ".venv/bin/python; ls ~/.local/share; "
                      "cat ~/.local/share/uv/credentials/token 2>/dev/null; true", repo)
    equal(out.split(), ["42", "uv"], "the interpreter, and what else of the directory is shown")


def test_a07_bytes_that_are_no_text_anywhere(box):
    repo = box.repo()
    name = b"bytes-\xff"
    run = box.command(box.bawn_path, "run", "--name", "bytes", "--", "sh", "-c",
                      b"printf '\\377\\376'; echo x >'" + name + b"'", cwd=repo).expect(0)
    equal(run.out_bytes, b"\xff\xfe", "output")
    for argv in (("list", "--json"), ("show", "--json"), ("diff", "--json")):
        box.bawn(*argv, cwd=repo).expect(0).out_bytes.decode("utf-8")
    equal(box.bawn("logs", "--stdout", cwd=repo).expect(0).out_bytes, b"\xff\xfe", "logs")


def test_a01_no_ghost_files_after_many_runs(box):
    repo = box.repo()
    entries = sorted(os.listdir(repo)), sorted(os.listdir(f"{repo}/.git")), os.listdir(box.home)
    for _ in range(20):
        box.run("true", options=("--ephemeral",), cwd=repo).expect(0)
    equal((sorted(os.listdir(repo)), sorted(os.listdir(f"{repo}/.git")), os.listdir(box.home)),
          entries, "entries of tree, .git and home")


def test_e08_what_was_built_outside_is_up_to_date_inside(box):
    files = {"Makefile": "out: in\n\tcp in out\n", "in": "1\n", ".gitignore": "out\n"}
    repo = box.repo(files=files)
    box.command("make", cwd=repo).expect(0)
    box.settle()
    check("up to date" in inside(box, "make", repo), "make inside rebuilds what is new enough")
    time.sleep(0.05)
    box.write(f"{repo}/in", "2\n")
    box.settle()
    out = inside(box, "make && cat out", repo)
    check(out.endswith("2\n") and "cp in out" in out, f"make inside did not see the edit: {out}")


def test_e10_relative_worktrees_are_read(box):
    """An extension that changes pointers only, which our own reader resolves; git of Debian 12 is
    older than the flag, and says so itself."""
    repo = box.repo()
    box.git("config", "core.repositoryFormatVersion", "1", cwd=repo)
    box.git("config", "extensions.relativeWorktrees", "true", cwd=repo)
    box.shell("echo n >n.txt", cwd=repo).expect(0)
    equal(box.names(repo), ["n.txt"], "names")
    box.bawn("publish", "-m", "x", "--unreviewed", "--branch", "x", cwd=repo).expect(0)
    for key in ("extensions.relativeWorktrees", "core.repositoryFormatVersion"):
        box.command("git", "config", "--file", f"{repo}/.git/config", "--unset", key).expect(0)
    equal(box.git("show", "x:n.txt", cwd=repo), "n", "published")
    box.git("fsck", "--strict", cwd=repo)


def test_e18_private_places_are_roomy(box):
    """A half of the memory for /tmp and the home, a quarter for /dev/shm, and inodes for a tree of
    packages."""
    repo = box.repo()
    out = inside(box, 'df -B1 --output=size,itotal /tmp "$HOME" /dev/shm | tail -n 3', repo)
    rows = [[int(x) for x in line.split()] for line in out.splitlines()]
    for (size, inodes), least in zip(rows, (1 << 30, 1 << 30, 256 << 20)):
        check(size >= least and inodes >= 100_000, f"too small: {out}")
    inside(box, "head -c 300M /dev/zero >/tmp/x && head -c 200M /dev/zero >/dev/shm/x", repo)


WATCH = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.inotify_init1(0)
os.mkdir("/tmp/w")
for i in range(15000):
    os.mkdir(f"/tmp/w/{i}")
    if libc.inotify_add_watch(fd, f"/tmp/w/{i}".encode(), 0x3c6) < 0:
        sys.exit(f"{i}: {os.strerror(ctypes.get_errno())}")
open("/tmp/w/14999/x", "w").close()
print(len(os.read(fd, 4096)) > 0)
"""


def test_e19_a_tree_of_15000_directories_can_be_watched(box):
    repo = box.repo(files={"watch.py": WATCH})
    equal(inside(box, "/usr/bin/python3 watch.py", repo), "True\n", "an event arrives")
