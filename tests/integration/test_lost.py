"""A sandbox that is lost before its job ended, or a part of the state that cannot be read: nothing
that a job wrote goes, and nothing is taken for what it is not."""
import json
import os
import signal
import subprocess
import time

from support import processes
from support.box import wait_until
from support.marks import check, equal


def start(box, repo, *argv):
    """`bawn run ARGV`, once its job has printed a line."""
    process = box.start(box.bawn_path, "run", *argv, cwd=repo, stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal(process.stdout.readline(), b"up\n", "the job's first line")
    return process


def pids_of(name):
    """Below the runner: who outlives the command that made it has gone over to that."""
    return [pid for pid in processes.descendants(os.getppid()) if processes.comm_of(pid) == name]


WRITES = ("--", "sh", "-c", "echo x >new; echo up; exec sleep 30")


def test_pid_1_killed_during_the_job_keeps_its_changes(box):
    repo = box.repo()
    process = start(box, repo, *WRITES)
    pid1 = min(pids_of("bawn-init"))  # made first
    os.kill(pid1, signal.SIGKILL)
    _, err = process.communicate(timeout=20)
    equal(process.returncode, 125, "exit code")
    check(b"lost before its job ended" in err, err.decode())
    check(b"nothing ran" not in err, err.decode())
    equal(box.names(repo), ["new"], "what the job had written")
    receipt = json.loads(box.bawn("show", "--json", cwd=repo).expect(0).out)["receipts"][0]
    equal(receipt["outcome"]["kind"], "interrupted", "outcome")


def test_client_and_keeper_killed_during_the_first_job_keep_its_changes(box):
    repo = box.repo()
    process = start(box, repo, "--keep", "--name", "k", *WRITES)
    process.kill()
    process.communicate(timeout=20)
    for pid in pids_of("bawn-keeper"):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not pids_of("bawn-init"), "pid 1 has ended")
    answer = json.loads(box.bawn("list", "--json", cwd=repo).expect(0).out)
    check(any("k was interrupted" in line for line in answer["recovered"]), str(answer))
    equal([one["kept"] for one in answer["sandboxes"]], [True], "kept")
    equal(box.names(repo), ["new"], "what the job had written")


def test_keep_for_counts_from_the_first_job(box):
    repo = box.repo()
    box.run("true", options=("--keep-for", "1ms"), cwd=repo).expect(0)
    wait_until(lambda: not pids_of("bawn-keeper"), "the keeper has ended")
    box.bawn("list", cwd=repo).expect(0)
    equal(box.kept(repo), [], "kept")


def test_a_live_sandbox_ends_at_once(box):
    """At level bounded, too, where its control groups end with it."""
    repo = box.repo()
    box.run("true", options=("--keep", "--name", "k"), cwd=repo).expect(0)
    run = box.bawn("discard", "--yes", "k", cwd=repo).expect(0)
    check(run.seconds < 3, f"took {run.seconds:.1f} s")
    wait_until(lambda: not pids_of("bawn-keeper"), "the keeper has ended", seconds=2)


def test_output_that_cannot_be_written_is_said(box):
    repo = box.repo()
    with open("/dev/full", "wb") as full:
        process = box.start(box.bawn_path, "run", "--", "sh", "-c", "echo x; exec sleep 30",
                            cwd=repo, stdin=subprocess.DEVNULL, stdout=full,
                            stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=20)
    equal(process.returncode, 125, "exit code")
    check(b"bawn: the job's output could not be written (ENOSPC)" in err, err.decode())


def only(directory):
    (entry,) = os.scandir(directory)
    return entry.path


def test_a_receipt_that_cannot_be_read_is_named_in_the_list(box):
    repo = box.repo()
    box.shell("echo x >new", cwd=repo).expect(0)
    job = only(f"{only(f'{box.state}/sb')}/jobs")
    box.write(f"{job}/receipt.json", "{")
    answer = json.loads(box.bawn("list", "--json", cwd=repo).expect(0).out)
    check(any("its receipts cannot be read" in line for line in answer["recovered"]), str(answer))
    shown = json.loads(box.bawn("show", "--json", cwd=repo).expect(0).out)["receipts"]
    check("damaged" in shown[0], str(shown))


def test_discard_older_leaves_what_it_cannot_date(box):
    repo = box.repo()
    box.shell("echo x >new", cwd=repo).expect(0)
    meta = f"{only(f'{box.state}/sb')}/meta.json"
    box.write(meta, "{")
    time.sleep(0.01)
    box.bawn("discard", "--older", "1ms", "--yes", cwd=repo).expect(0)
    check(os.path.exists(meta), "a sandbox of unknown age was discarded")
    box.bawn("discard", "--all", "--yes", cwd=repo).expect(0)
    check(not os.path.exists(meta), "it stays after discard --all")
