"""How runs end: limits, signals, kill -9, daemons, floods. What is left after each: nothing."""
import os
import signal
import subprocess
import time

from support import processes
from support.box import bawn_lines, stop, wait_until
from support.marks import check, equal, timeout


def find(argument):
    """Pids of the machine whose command line holds `argument`, but for bawn itself."""
    found = []
    for pid in processes.all_pids():
        facts = processes.status_of(pid)
        if facts and facts[0] != "Z" and argument in facts[2] and "bawn" not in facts[2]:
            found.append(pid)
    return found


def start_sleeper(box, repo, seconds, *options):
    process = box.start(box.bawn_path, "run", *options, "--", "sh", "-c",
                        f"echo up; exec sleep {seconds}", cwd=repo, stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    equal(process.stdout.readline(), b"up\n", "the job's first line")
    wait_until(lambda: find(f"sleep {seconds}"), "the sleeper is seen")
    return process


def test_kill_9_of_bawn_ends_the_payload_within_100_ms(box):
    repo = box.repo()
    took = []
    for number in range(5):
        name = f"sleep 7{os.getpid()}{number}"
        process = start_sleeper(box, repo, name.split()[1])
        start = time.monotonic()
        process.send_signal(signal.SIGKILL)
        while find(name):
            check(time.monotonic() - start < 10, "the payload lives on")
        took.append(time.monotonic() - start)
        stop(process)
    # What it left on disk is the next command's to clean (the leak check looks after this).
    box.bawn("list", cwd=repo).expect(0)
    check(sorted(took)[2] < 0.1, f"median {sorted(took)[2] * 1000:.0f} ms of {took}")


def test_kill_9_is_recovered_and_named_by_the_next_command(box):
    repo = box.repo()
    process = box.start(box.bawn_path, "run", "--", "sh", "-c",
                        "echo kept >kept.txt; echo up; exec sleep 1000", cwd=repo,
                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                        stdin=subprocess.DEVNULL)
    equal(process.stdout.readline(), b"up\n", "the job's first line")
    stop(process)
    equal(box.names(repo), ["kept.txt"], "names")
    check("interrupted" in box.bawn("show", "--json", cwd=repo).out, "outcome")
    box.bawn("discard", "--yes", cwd=repo).expect(0)
    equal(box.git("for-each-ref", "refs/bawn", cwd=repo), "", "pin refs")


def test_interrupt_reaches_the_job_and_ends_bawn_with_it(box):
    repo = box.repo()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        name = f"8{os.getpid()}{int(number)}"
        process = start_sleeper(box, repo, name, "--ephemeral")
        process.send_signal(number)
        code = process.wait(15)
        check(code in (128 + number, -number), f"exit code {code} after signal {number}")
        equal(find(f"sleep {name}"), [], "sleepers")
        process.stdout.close()


def test_daemon_ends_with_its_job(box):
    """O-19, A-12: what double-forks, ignores signals and renames itself ends all the same."""
    repo = box.repo()
    run = box.run("sh", "-c", "(setsid sh -c 'trap \"\" TERM HUP INT; while :; do date >>log; "
                  "sleep 0.01; done' &) ; sleep 0.2", cwd=repo).expect(0)
    check(run.seconds < 8, f"took {run.seconds:.1f} s")
    first = box.bawn("diff", "--digest", cwd=repo).expect(0).out
    time.sleep(0.3)
    equal(box.bawn("diff", "--digest", cwd=repo).expect(0).out, first, "digest")


def test_daemon_that_holds_the_output_does_not_hold_bawn(box):
    """RT-27: a job ends with its main process and a short drain."""
    repo = box.repo()
    run = box.run("sh", "-c", "setsid sleep 1000 & echo done", options=("--ephemeral",),
                  cwd=repo).expect(0)
    equal(run.out, "done\n", "output")
    check(run.seconds < 5, f"took {run.seconds:.1f} s")


@timeout(120)
def test_orphans_are_reaped_without_losing_a_status(box):
    """O-20."""
    repo = box.repo()
    script = ("import os\n"
              "for i in range(4000):\n"
              "    if os.fork() == 0:\n"
              "        if os.fork() == 0: os._exit(0)\n"
              "        os._exit(i % 7)\n"
              "    assert os.waitstatus_to_exitcode(os.wait()[1]) == i % 7, i\n")
    box.run("/usr/bin/python3", "-c", script, options=("--ephemeral",), cwd=repo,
            seconds=100).expect(0)


def test_fork_bomb_is_bounded_and_ended(box):
    repo = box.repo()
    run, receipt = box.receipt("sh", "-c", "f() { f | f & }; f; sleep 60",
                               options=("--ephemeral", "--timeout", "3s"), cwd=repo, seconds=60)
    check(run.code in (124, 137, 2, 254, 0, 1), run.told())
    check(receipt["outcome"]["kind"] in ("killed", "exited", "signaled"), str(receipt["outcome"]))
    equal(receipt["remaining"], [], "remaining")


def test_output_flood_is_kept_bounded_and_passed_whole(box):
    """O-21."""
    repo = box.repo()
    size = 200 << 20
    with box.start(box.bawn_path, "run", "--", "sh", "-c", f"echo x >x; head -c {size} /dev/zero",
                   cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                   stdin=subprocess.DEVNULL) as process:
        seen, peak = 0, 0
        while chunk := process.stdout.read(1 << 20):
            seen += len(chunk)
            peak = max(peak, resident_kib(process.pid))
        equal(process.wait(), 0, "exit code")
    equal(seen, size, "bytes passed on")
    check(peak < 32 << 10, f"peak of bawn: {peak} KiB")
    receipt = box.json("show", cwd=repo)
    text = str(receipt)
    check(str(size) in text and "True" in text, "bytes_total and truncated")


def resident_kib(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmRSS"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def test_file_count_limit_ends_the_job_and_everything_else_works(box):
    """O-22: inodes, not bytes."""
    repo = box.repo()
    run, receipt = box.receipt(
        "sh", "-c", "i=0; while :; do : >f$i; i=$((i+1)); done", cwd=repo, seconds=60,
        options=("--inodes", "2000", "--timeout", "30s"))
    run.expect(137)
    equal(receipt["outcome"]["killed_by"], "inodes", "killed_by")
    check(bawn_lines(run.err), run.told())
    box.bawn("discard", "@last", "--yes", cwd=repo).expect(0)


def test_disk_limit_ends_the_job(box):
    repo = box.repo()
    run, receipt = box.receipt("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do head -c 10M /dev/zero "
                               ">big-$i; done; sleep 20", cwd=repo, seconds=60,
                               options=("--disk", "32MiB", "--timeout", "30s"))
    run.expect(137)
    equal(receipt["outcome"]["killed_by"], "disk", "killed_by")
    box.bawn("discard", "@last", "--yes", cwd=repo).expect(0)


def test_two_runs_at_once_do_not_meet(box):
    repo = box.repo()
    first = start_sleeper(box, repo, f"9{os.getpid()}1", "--name", "one")
    run = box.run("sh", "-c", "ps -e -o args= | grep -c '[s]leep 9'; true",
                  options=("--ephemeral",), cwd=repo).expect(0)
    equal(run.out.strip(), "0", "sleepers seen by the neighbour")
    stop(first)
    box.bawn("discard", "--all", "--yes", cwd=repo)


def test_several_jobs_in_one_kept_sandbox(box):
    repo = box.repo()
    box.run("sh", "-c", "echo 1 >n", options=("--name", "kept"), cwd=repo).expect(0)
    for number in (2, 3):
        box.run("sh", "-c", f"echo {number} >>n", options=("--in", "kept"), cwd=repo).expect(0)
    run = box.run("cat", "n", options=("--in", "kept"), cwd=repo).expect(0)
    equal(run.out, "1\n2\n3\n", "what three jobs wrote")
    equal(len(box.kept(repo)), 1, "sandboxes")
    box.bawn("discard", "kept", "--yes", cwd=repo).expect(0)
