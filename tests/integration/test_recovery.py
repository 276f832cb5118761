"""What a killed command, a stopped machine and the passing of time leave to the next command."""
import fcntl
import json
import os
import signal
import time

from support.box import has_word, stop, wait_until
from support.marks import check, equal, timeout
from support.processes import all_pids, status_of

WEEK = 7 * 24 * 3600


def find(line):
    """Pids of the processes with exactly this command line."""
    return [pid for pid in all_pids() if (status_of(pid) or ("", 0, ""))[2] == line]


def sandbox_dir(box, name=None):
    """state/sb/<id> of the sandbox of that name; of the only one."""
    found = []
    for entry in os.scandir(f"{box.state}/sb"):
        with open(f"{entry.path}/meta.json", encoding="utf-8") as file:
            if name in (None, json.load(file)["name"]):
                found.append(entry.path)
    equal(len(found), 1, f"sandboxes called {name}")
    return found[0]


def start(box, repo, *argv):
    """`bawn run ARGV`, once its job has printed a line."""
    process = box.start(box.bawn_path, "run", *argv, cwd=repo, stdin=-3, stdout=-1, stderr=-3)
    equal(process.stdout.readline(), b"up\n", "the job's first line")
    return process


# -- seven days ------------------------------------------------------------------------------------

def make_old(box, directory, days):
    """As if the jobs had ended that long ago. A clock of its own is what no process can have."""
    then = time.time() - days * 24 * 3600
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(then))
    for job in os.scandir(f"{directory}/jobs"):
        path = f"{job.path}/receipt.json"
        with open(path, encoding="utf-8") as file:
            receipt = json.load(file)
        receipt["ended_at"] = stamp + receipt["ended_at"][len(stamp):]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(receipt, file)
        os.utime(job.path, (then, then))
    due(box)


def due(box):
    """As if the day had come on which the state directory is to be looked through."""
    os.utime(f"{box.state}/next-sweep", (1, 1))


def jobs_of(directory):
    return os.listdir(f"{directory}/jobs")


def test_receipts_and_output_go_after_seven_days_at_the_next_command(box):
    repo = box.repo()
    box.run("true", options=("--name", "old"), cwd=repo).expect(0)
    box.run("true", options=("--name", "young"), cwd=repo).expect(0)
    box.run("sh", "-c", "echo x; echo x >x", options=("--name", "kept"), cwd=repo).expect(0)
    old, young, kept = (sandbox_dir(box, name) for name in ("old", "young", "kept"))
    make_old(box, young, 6.9)
    make_old(box, old, 7.1)
    make_old(box, kept, 7.1)
    box.bawn("list", cwd=repo).expect(0)
    check(not os.path.exists(old), "a sandbox without changes, and its receipt, after a week")
    equal(len(jobs_of(young)), 1, "receipts of six days")
    equal(jobs_of(kept), [], "receipts of a kept sandbox after a week")
    equal(box.names(repo), ["x"], "its changes")
    # The next time is when the youngest comes of age.
    left = os.stat(f"{box.state}/next-sweep").st_mtime - time.time()
    check(0 < left < 0.2 * 24 * 3600, f"next look in {left} s")
    box.bawn("discard", "kept", "--yes", cwd=repo).expect(0)


def test_receipts_of_a_sandbox_in_use_wait(box):
    repo = box.repo()
    box.run("true", cwd=repo).expect(0)
    directory = sandbox_dir(box)
    make_old(box, directory, 8)
    with open(f"{directory}/lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        box.bawn("list", cwd=repo).expect(0)
        equal(len(jobs_of(directory)), 1, "receipts of a locked sandbox")
    due(box)
    box.bawn("list", cwd=repo).expect(0)
    check(not os.path.exists(directory), "its directory, once it is free")


def test_what_an_apply_replaced_goes_after_seven_days_at_the_next_command(box):
    """Of a sandbox with changes that still wait, too; not what a killed apply has yet to finish."""
    repo = box.repo(files={"a.txt": "a\n", "b.txt": "b\n"})
    box.run("sh", "-c", "echo n >a.txt; echo n >b.txt", options=("--name", "k"), cwd=repo).expect(0)
    box.bawn("apply", "k", "--unreviewed", "--path", "a.txt", cwd=repo).expect(0)
    directory = sandbox_dir(box, "k")
    name, = os.listdir(f"{directory}/journal")
    journal = f"{directory}/journal/{name}"

    def look(days):
        os.utime(f"{journal}/log", (time.time() - days * 24 * 3600,) * 2)
        due(box)
        box.bawn("list", cwd=repo).expect(0)
        return os.path.exists(journal)

    check(look(6.9), "after six days")
    left = os.stat(f"{box.state}/next-sweep").st_mtime - time.time()
    check(0 < left < 0.2 * 24 * 3600, f"next look in {left} s")
    with open(f"{journal}/log", "r+b") as log:
        whole = log.read()
        log.truncate(len(whole) - len(b"F\n"))
    check(look(7.1), "what is not finished")
    with open(f"{journal}/log", "wb") as log:
        log.write(whole)
    check(not look(7.1), "after seven days")
    run = box.bawn("apply", "--undo", "k", cwd=repo).expect(1)
    check("no apply" in run.err, run.told())
    equal(box.names(repo), ["b.txt"], "what still waits")
    equal(box.read(f"{repo}/a.txt"), "n\n", "what was applied")


# -- kill -9 ---------------------------------------------------------------------------------------

def volatile_mark(directory):
    """The mark of a volatile mount; the directories on the way are of mode 000."""
    path = f"{directory}/layers/0/work"
    for name in ("work", "incompat"):
        path += f"/{name}"
        if not os.path.lexists(path):
            return False
        os.chmod(path, 0o700)
    return os.path.lexists(f"{path}/volatile")


def test_in_after_kill_9_mounts_the_changes_again(box):
    repo = box.repo()
    script = "echo 1 >n; echo up; exec sleep 999"
    process = start(box, repo, "--name", "k", "--", "sh", "-c", script)
    stop(process)
    process.stdout.close()
    directory = sandbox_dir(box)
    wait_until(lambda: not find("sleep 999"), "the payload is gone")
    check(volatile_mark(directory), "the control: no mark of a volatile mount was left")
    run = box.run("sh", "-c", "echo 2 >>n; cat n", options=("--in", "k"), cwd=repo).expect(0)
    equal(run.out, "1\n2\n", "what both jobs wrote")
    receipts = box.json("show", "k", cwd=repo)["receipts"]
    equal([r["outcome"]["kind"] for r in receipts], ["exited", "interrupted"], "outcomes")
    box.bawn("discard", "k", "--yes", cwd=repo).expect(0)


def test_second_job_interrupted_has_a_receipt_of_its_own(box):
    repo = box.repo()
    box.run("sh", "-c", "echo 1 >n", options=("--name", "k"), cwd=repo).expect(0)
    process = start(box, repo, "--in", "k", "--", "sh", "-c", "echo up; exec sleep 998")
    stop(process)
    process.stdout.close()
    answer = box.json("list", cwd=repo)
    check(any(has_word(line, "k was interrupted") for line in answer["recovered"]), str(answer))
    receipts = box.json("show", "k", cwd=repo)["receipts"]
    equal(sorted(r["outcome"]["kind"] for r in receipts), ["exited", "interrupted"], "outcomes")
    interrupted = [r for r in receipts if r["outcome"]["kind"] == "interrupted"][0]
    check("sleep 998" in " ".join(interrupted["command"]), f"its command: {interrupted['command']}")
    equal(box.names(repo), ["n"], "the changes")
    box.bawn("discard", "k", "--yes", cwd=repo).expect(0)


@timeout(180)
def test_kill_9_of_a_client_ends_its_own_job_in_a_kept_sandbox(box):
    repo = box.repo()
    keeper = start(box, repo, "--keep", "--name", "k", "--", "sh", "-c", "echo up; exec sleep 996")
    guest = start(box, repo, "--in", "k", "--", "sh", "-c", "echo up; exec sleep 997")
    begin = time.monotonic()
    guest.send_signal(signal.SIGKILL)
    wait_until(lambda: not find("sleep 997"), "the killed client's job is gone")
    took = time.monotonic() - begin
    check(took < 2, f"after {took:.2f} s")
    time.sleep(0.2)
    check(find("sleep 996"), "its neighbour's job lives on")
    keeper.send_signal(signal.SIGKILL)
    wait_until(lambda: not find("sleep 996"), "the first client's job is gone")
    for process in (guest, keeper):
        process.wait()
        process.stdout.close()
    run = box.run("echo", "here", options=("--in", "k"), cwd=repo).expect(0)
    equal(run.out, "here\n", "a job in the sandbox that stays")
    box.bawn("discard", "k", "--yes", cwd=repo).expect(0)


# -- what follows the answer -----------------------------------------------------------------------

def test_published_changes_are_removed_behind_the_answer(box):
    """Also where what removes them is killed, or never starts: then by the next command."""
    repo = box.repo()
    for verb in (("publish", "-m", "x", "--branch", "x"), ("apply",)):
        box.run("sh", "-c", "mkdir -p d; echo 1 >d/n; echo 2 >n", options=("--name", "k"),
                cwd=repo).expect(0)
        directory = sandbox_dir(box, "k")
        box.bawn(*verb, "--unreviewed", cwd=repo).expect(0)
        check(not os.path.exists(f"{directory}/layers"), f"the changes can be found after {verb}")
        wait_until(lambda: not os.listdir(f"{box.state}/running"), f"removed after {verb}")
        left = set(os.listdir(directory))
        check(not any(name.endswith(".gone") for name in left), f"left after {verb}: {left}")

        # As one that was killed half way leaves it.
        os.makedirs(f"{directory}/layers.gone/0/upper/d")
        with open(f"{box.state}/running/{os.path.basename(directory)}", "w", encoding="ascii"):
            pass
        told = box.json("list", "--all", cwd=repo)
        check(any("the end of that was finished" in line for line in told["recovered"]),
              f"nothing said of it: {told}")
        check(not os.path.exists(f"{directory}/layers.gone"), "the next command leaves it too")
        equal(os.listdir(f"{box.state}/running"), [], "markers")
        box.command("rm", "-rf", directory).expect(0)


# -- write-back ------------------------------------------------------------------------------------

def kept_and_synced(box, repo):
    box.run("sh", "-c", "echo 1 >n", options=("--name", "k"), cwd=repo).expect(0)
    directory = sandbox_dir(box)
    wait_until(lambda: not os.path.exists(f"{directory}/durable.pending"), "written back", 60)
    equal(box.json("show", "k", cwd=repo)["durable"], "synced", "durable")
    return directory


def as_the_writer_left_it(directory):
    """As write-back leaves it that is killed at its start."""
    os.makedirs(f"{directory}/layers/0/work/work/incompat/volatile", exist_ok=True)
    with open(f"{directory}/durable.pending", "w", encoding="ascii"):
        pass


def test_killed_write_back_is_done_by_the_next_command(box):
    repo = box.repo()
    directory = kept_and_synced(box, repo)
    for command in (("diff",), ("run", "--in", "k", "--", "true")):
        as_the_writer_left_it(directory)
        equal(box.json("show", "k", cwd=repo)["durable"], "pending", "durable")
        box.bawn(*command, cwd=repo).expect(0)
        wait_until(lambda: not os.path.exists(f"{directory}/durable.pending"), f"{command}", 60)
        check(not volatile_mark(directory), f"the volatile mark after {command}")
    as_the_writer_left_it(directory)
    box.bawn("apply", "--unreviewed", cwd=repo).expect(0)
    equal(box.read(f"{repo}/n"), "1\n", "the applied file")


def test_only_mounting_again_waits_for_write_back(box):
    repo = box.repo()
    directory = kept_and_synced(box, repo)
    as_the_writer_left_it(directory)
    with open(f"{directory}/durable.pending", "wb") as pending:
        fcntl.flock(pending, fcntl.LOCK_EX)
        equal(box.names(repo), ["n"], "names while it is written back")
        waiting = box.start(box.bawn_path, "run", "--in", "k", "--", "cat", "n", cwd=repo,
                            stdin=-3, stdout=-1, stderr=-3)
        time.sleep(0.5)
        check(waiting.poll() is None, "--in does not wait")
    equal(waiting.communicate(timeout=60)[0], b"1\n", "its output, once it may")
    equal(waiting.returncode, 0, "its exit code")
    box.bawn("discard", "k", "--yes", cwd=repo).expect(0)


def test_machine_that_stopped_before_write_back_is_named(box):
    repo = box.repo()
    directory = kept_and_synced(box, repo)
    as_the_writer_left_it(directory)
    meta = json.loads(box.read(f"{directory}/meta.json"))
    meta["opened_at_ns"] = 1  # before the machine started
    box.write(f"{directory}/meta.json", json.dumps(meta))
    for _ in range(2):  # and it stays known
        run = box.bawn("diff", cwd=repo).expect(0)
        check(has_word(run.err, "machine stopped before"), run.told())
    check(not volatile_mark(directory), "the volatile mark")
    box.bawn("discard", "k", "--yes", cwd=repo).expect(0)


# -- discard ---------------------------------------------------------------------------------------

DEEP = """
import os
os.makedirs("deep"); os.chdir("deep")
for i in range(5000):
    os.mkdir("d"); os.chdir("d")
"""

MANY = """
import os
for d in range(100):
    os.mkdir(f"many{d}")
    for f in range(1000):
        os.close(os.open(f"many{d}/{f}", os.O_CREAT | os.O_WRONLY, 0o600))
os.chmod("many0/1", 0o4755); os.chmod("many1/1", 0o6755)
for d in range(50):
    os.chmod(f"many{d}", 0)
os.mkdir("closed"); os.mkdir("closed/in"); os.chmod("closed/in", 0); os.chmod("closed", 0)
"""


def discard_after(box, script):
    """Not much longer than rm takes for the same tree on the same disk."""
    repo = box.repo()
    outside = f"{box.work}/outside"
    os.mkdir(outside)
    box.command("/usr/bin/python3", "-c", script, cwd=outside, seconds=150).expect(0)
    box.command("chmod", "-R", "u+rwX", outside).expect(0)
    rm = box.command("rm", "-rf", outside, seconds=150).expect(0)
    box.run("/usr/bin/python3", "-c", script, options=("--name", "big"), cwd=repo,
            seconds=150).expect(0)
    directory = sandbox_dir(box, "big")
    discard = box.bawn("discard", "big", "--yes", cwd=repo, seconds=150).expect(0)
    check(not os.path.exists(f"{directory}/layers"), "layers after discard")
    check(discard.seconds < 3 * rm.seconds + 5,
          f"discard took {discard.seconds:.1f} s, rm {rm.seconds:.1f} s")


@timeout(400)
def test_discard_of_a_tree_5000_deep(box):
    discard_after(box, DEEP)


@timeout(400)
def test_discard_of_100000_files_closed_and_setuid(box):
    discard_after(box, MANY)
