"""Attacks that need more around them: races, layers, neighbours, stopped clients."""
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

from support.box import stop, wait_until
from support.marks import accept, check, equal, timeout
from support.scene import TOKEN


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def outside(box):
    """A directory of the host beside the workspace, with a canary in it."""
    box.write("outside/canary", TOKEN + "\n")
    return f"{box.work}/outside"


def untouched(box):
    equal(box.read("outside/canary"), TOKEN + "\n", "the canary outside")
    equal(sorted(os.listdir(f"{box.work}/outside")), ["canary"], "entries outside")


def scanner(box, repo, prefix, program):
    """The scanning payload behind `prefix`, started; it looks for `program` by /proc/*/exe."""
    shutil.copy(f"{box.payloads}/proc_scan", f"{repo}/attack")
    return box.start(*prefix, f"{repo}/attack", program, cwd=repo, stdout=subprocess.PIPE,
                     stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)


def until_ended(process, act):
    while process.poll() is None:
        act()
    out = process.stdout.read().decode()
    process.stdout.close()
    return process.wait(), out


def test_scan_for_a_program_of_the_host_control(box):
    """O-14, CVE-2019-5736: natively the scanner finds a program that runs again and again."""
    repo = box.repo()
    victim = f"{box.work}/victim"
    shutil.copy("/bin/sleep", victim)

    def act():
        try:
            subprocess.run([victim, "0.02"], check=False)
        except OSError:
            time.sleep(0.01)  # busy: the attack holds it open for writing

    code, out = until_ended(scanner(box, repo, [], victim), act)
    equal(code, 0, f"the control ({out})")


def test_scan_for_a_program_of_the_host(box):
    """The same inside, while jobs arrive from a bawn that its user can write."""
    repo = box.repo()
    programs = f"{box.work}/programs"
    shutil.copytree(f"{box.build}/bin", programs)
    before = {name: digest_of(f"{programs}/{name}") for name in os.listdir(programs)}
    box.bawn_path = f"{programs}/bawn"
    box.run("true", options=("--keep", "--name", "scan"), cwd=repo).expect(0)
    prefix = [box.bawn_path, "run", "--quiet", "--in", "scan", "--"]
    process = scanner(box, repo, prefix, box.bawn_path)
    jobs = []

    def act():
        jobs.append(box.run("true", options=("--quiet", "--in", "scan"), cwd=repo).expect(0))

    try:
        code, out = until_ended(process, act)
    finally:
        box.bawn("discard", "--yes", "scan", cwd=repo)
    check(len(jobs) >= 20, f"only {len(jobs)} jobs arrived during the scan")
    equal(code, 1, f"the scan ({out})")
    check("stopped" in out, out)
    after = {name: digest_of(f"{programs}/{name}") for name in os.listdir(programs)}
    equal(after, before, "digests of our programs")


def test_overlay_attributes_written_inside_mean_nothing(box):
    repo = box.repo()
    there = outside(box)
    up = "/.." * 30 + there
    run = box.run("sh", "-c", f"mkdir d && setfattr -n user.overlay.redirect -v '{up}' d; "
                  "setfattr -n user.overlay.opaque -v y src; echo x >m; "
                  f"setfattr -n user.overlay.redirect -v '{up}/canary' m; "
                  "setfattr -n user.overlay.metacopy m; echo done", cwd=repo,
                  options=("--name", "x")).expect(0)
    check("done" in run.out, run.told())
    run = box.run("sh", "-c", "ls -la d src; cat d/canary m", options=("--in", "x"), cwd=repo)
    check(TOKEN not in run.out, run.told())
    check("b.c" in run.out, f"the opaque mark hid a file\n{run.told()}")
    equal(set(box.names(repo)) - {"d"}, {"m"}, "names, but for the new directory")
    box.bawn("apply", "--unreviewed", cwd=repo).expect(0)
    out = box.command("getfattr", "-R", "-d", "-m", "-", repo).out
    check("user.overlay" not in out, out)
    untouched(box)


FLIP = """
import os, sys
there, rounds = sys.argv[1], int(sys.argv[2])
os.makedirs('real', exist_ok=True)
open('real/canary', 'w').write('inside\\n')
open('plain', 'w').write('inside\\n')
for number in range(rounds):
    os.symlink(there + '/canary', 'out.new'); os.rename('out.new', 'out')
    os.symlink(there, 'dir.new')
    try: os.rename('dir.new', 'dir')
    except OSError: os.rename('dir', 'dir.old'); os.rename('dir.new', 'dir')
    os.link('plain', 'out.new'); os.rename('out.new', 'out')
    os.unlink('dir'); os.mkdir('dir')
    if os.path.isdir('dir.old'): os.rmdir('dir.old')
print('flipped', rounds)
"""


def flip_under(box, rounds):
    """Diffs of a living sandbox while its job flips links to the host's files."""
    repo = box.repo()
    there = outside(box)
    process = box.start(box.bawn_path, "run", "--quiet", "--name", "flip", "--",
                        "/usr/bin/python3", "-c", FLIP, there, str(rounds), cwd=repo,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                        stdin=subprocess.DEVNULL)
    looked = 0
    while process.poll() is None:
        for argv in (("diff", "flip"), ("diff", "--names", "-z", "flip"), ("diff", "--digest"),
                     ("list", "--json"), ("logs", "flip")):
            run = box.bawn(*argv, cwd=repo)
            check(TOKEN not in run.out, f"the host's file was read\n{run.told()}")
            looked += 1
    out = process.stdout.read().decode()
    process.stdout.close()
    check(process.wait() == 0 and "flipped" in out, out)
    untouched(box)
    run = box.bawn("diff", "flip", cwd=repo).expect(0)
    check(TOKEN not in run.out, run.told())
    for argv in (("publish", "-m", "x", "--branch", "bawn/x"), ("apply",)):
        box.bawn(argv[0], "flip", *argv[1:], "--unreviewed", cwd=repo)
        untouched(box)
    return looked


def test_links_flipped_under_every_read(box):
    check(flip_under(box, 3000) > 0, "no read met a flip")


@accept
@timeout(900)
def test_links_flipped_one_hundred_thousand_times(box):
    check(flip_under(box, 100_000) > 0, "no read met a flip")


def test_links_flipped_in_the_tree_under_apply_and_discard(box):
    """The host side of the same: the user's tree changes under apply, which follows nothing."""
    repo = box.repo(files={"a.txt": "a\n", "d/one": "1\n", "d/two": "2\n"})
    there = outside(box)
    box.shell("for i in 1 2 3 4 5 6 7 8 9; do echo new >d/$i; done; echo b >d/one",
              cwd=repo).expect(0)
    over = threading.Event()

    def flip():
        while not over.is_set():
            os.rename(f"{repo}/d", f"{repo}/d.away")
            os.symlink(there, f"{repo}/d")
            os.unlink(f"{repo}/d")
            os.rename(f"{repo}/d.away", f"{repo}/d")

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        for _ in range(10):
            box.bawn("apply", "--unreviewed", cwd=repo)
    finally:
        over.set()
        thread.join()
    untouched(box)
    box.bawn("discard", "--yes", "@last", cwd=repo)
    untouched(box)


def test_git_directory_replaced_inside(box):
    repo = box.repo()
    there = outside(box)
    refs = box.git("for-each-ref", cwd=repo)
    box.shell(f"mv .git away || true; rm -rf .git; ln -s {there} .git || mkdir .git; "
              "echo x >n.txt", cwd=repo)
    run = box.bawn("diff", "--names", "-z", cwd=repo).expect(0)
    check(b"n.txt" in run.out_bytes, run.told())
    # Whether commits were made in what was there before, nobody can say: refused, with the remedy.
    publish = ("publish", "-m", "x", "--unreviewed", "--branch", "bawn/x", "--path", "n.txt")
    refused = box.bawn(*publish, cwd=repo).expect(1)
    check(b"--squash" in refused.err_bytes, refused.told())
    box.bawn(*publish, "--squash", cwd=repo).expect(0)
    equal(box.git("show", "bawn/x:n.txt", cwd=repo), "x", "published")
    untouched(box)
    check(refs.split()[0] in box.git("rev-parse", "main", cwd=repo), "main moved")
    check(os.path.isdir(f"{repo}/.git/objects"), "the host's .git is gone")


def test_special_files_hold_nothing_up(box):
    repo = box.repo()
    script = ("import os, socket\n"
              "os.mkfifo('fifo'); s = socket.socket(socket.AF_UNIX); s.bind('sock')\n"
              "d = 'deep'\n"
              "for i in range(400): os.mkdir(d); os.chdir(d); d = 'd' * 50\n")
    box.run("/usr/bin/python3", "-c", script, cwd=repo).expect(0)
    box.shell("mkdir -p closed/in && echo x >closed/in/f && chmod 000 closed/in closed; echo y >ok",
              options=("--in", "@last"), cwd=repo).expect(0)
    for argv in (("diff",), ("diff", "--stat"), ("diff", "--json"), ("list",)):
        box.bawn(*argv, cwd=repo, seconds=20).expect(0)
    box.bawn("apply", "--unreviewed", "--path", "ok", cwd=repo, seconds=20).expect(0)
    equal(box.read("repo/ok"), "y\n", "ok")
    box.bawn("discard", "--yes", "@last", cwd=repo, seconds=30).expect(0)
    equal(box.kept(repo), [], "sandboxes")


def test_jobs_of_one_sandbox_cannot_touch_each_other(box):
    """RT-14: each job has a domain of its own; the control is a process of the same job."""
    repo = box.repo()
    box.run("true", options=("--keep", "--name", "shared"), cwd=repo).expect(0)
    first = box.start(box.bawn_path, "run", "--quiet", "--in", "shared", "--", "sh", "-c",
                      "echo up; exec sleep 987", cwd=repo, stdout=subprocess.PIPE,
                      stdin=subprocess.DEVNULL)
    equal(first.stdout.readline(), b"up\n", "the first job's line")
    try:
        script = ("sleep 55 & own=$!; kill -0 $own && echo own-ok; "
                  "pid=$(ps -e -o pid=,args= | awk '/[s]leep 987/ {print $1}'); "
                  "[ -n \"$pid\" ] && echo seen; kill -KILL $pid && echo killed; kill $own")
        run = box.run("sh", "-c", script, options=("--quiet", "--in", "shared"), cwd=repo)
        check("own-ok" in run.out, f"the control\n{run.told()}")
        check("killed" not in run.out, run.told())
        check(first.poll() is None, "the first job was ended")
    finally:
        stop(first)
        first.stdout.close()
        box.bawn("discard", "--yes", "shared", cwd=repo)


def test_a_stopped_client_does_not_hold_its_sandbox(box):
    """RT-01: discard ends a sandbox whose client was stopped with Ctrl-Z, within the deadline."""
    repo = box.repo()
    client = box.start(box.bawn_path, "run", "--quiet", "--name", "stopped", "--", "sh", "-c",
                       "echo up; exec sleep 986", cwd=repo, stdout=subprocess.PIPE,
                       stdin=subprocess.DEVNULL)
    equal(client.stdout.readline(), b"up\n", "the job's line")
    client.send_signal(signal.SIGSTOP)
    try:
        run = box.bawn("discard", "--yes", "stopped", cwd=repo, seconds=20)
        check(run.code in (0, 1), run.told())
        check(run.seconds < 8, f"took {run.seconds:.1f} s")
        if run.code == 1:
            check("live" in run.err or "stopped" in run.err, run.told())
    finally:
        client.send_signal(signal.SIGCONT)
        stop(client)
        client.stdout.close()
        box.bawn("list", cwd=repo).expect(0)  # cleans what kill -9 left on disk


def test_abstract_names_inside_are_not_reached_from_outside(box):
    """O-07, the other direction."""
    repo = box.repo()
    name = f"bawn-inside-{os.getpid()}"
    script = ("import socket, time\n"
              f"s = socket.socket(socket.AF_UNIX); s.bind('\\0{name}'); s.listen(1)\n"
              "print('up', flush=True); time.sleep(30)\n")
    job = box.start(box.bawn_path, "run", "--ephemeral", "--quiet", "--", "/usr/bin/python3", "-c",
                    script, cwd=repo, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    equal(job.stdout.readline(), b"up\n", "the job's line")
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect("\0" + name)
                check(False, "connected to a name inside")
            except ConnectionRefusedError:
                pass
    finally:
        job.terminate()
        wait_until(lambda: job.poll() is not None, "the job's end")
        job.stdout.close()
