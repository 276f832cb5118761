"""Rows about large trees, the review, and the throughput of output."""
import os
import subprocess
import time

from stage import Row, median

TRUE = "/bin/true"
# Its argument makes the content new: what a repository has already is written by nobody.
CHANGES = """
import os, sys
names = sorted(os.path.join(b, n) for b, d, f in os.walk('.') if '/.git' not in b for n in f)
for name in names[:20000:20]: open(name, 'a').write(f'changed {sys.argv[1]}\\n')
for number in range(100): open(f'new-{number}', 'w').write(f'{number} {sys.argv[1]}\\n')
for name in names[30000:30050]: os.unlink(name)
"""


def change(stage, *prefix, cwd, what="once"):
    stage.run(*prefix, "/usr/bin/python3", "-c", CHANGES, what, cwd=cwd)


def open_50000(stage):
    """The cost of a large tree: one run there against one in a small tree, interleaved."""
    large, small = stage.repo(50000), stage.repo(100)
    run = [stage.bawn, "run", "--ephemeral"]
    found = stage.samples({"large": [*run, "-w", large, "--", TRUE],
                           "small": [*run, "-w", small, "--", TRUE]}, small)
    more = median(found["large"]) - median(found["small"])
    return Row("opening 50,000 files, against 100", "<= 1 ms more", f"{more:+.2f} ms", more <= 1)


def diff_names(stage):
    repo = stage.repo(50000)
    change(stage, stage.bawn, "run", "--name", "bench-diff", "--", cwd=repo)
    names = stage.run(stage.bawn, "diff", "--names", "-z", "bench-diff", cwd=repo,
                      stdout=subprocess.PIPE).stdout.count(b"\0")
    if names != 1150:
        raise RuntimeError(f"bench: diff lists {names} names, not 1150")
    found = stage.samples({"diff": [stage.bawn, "diff", "--names", "bench-diff"]}, repo, 20)
    stage.run(stage.bawn, "discard", "--yes", "bench-diff", cwd=repo)
    return Row("`diff --names`, 1,150 changes in 50,000 files", "<= 60 ms",
               f"{median(found['diff']):.1f} ms", median(found["diff"]) <= 60)


def publish(stage):
    repo = stage.repo(50000)
    ours, theirs = [], []
    for number in range(5):
        change(stage, stage.bawn, "run", "--name", f"bench-{number}", "--", cwd=repo,
               what=f"inside {number}")
        ours += stage.samples_once(
            [stage.bawn, "publish", "-m", "bench", "--unreviewed", "--branch", f"bench/{number}",
             f"bench-{number}"], repo)
        change(stage, cwd=repo, what=f"outside {number}")
        theirs += stage.samples_once(
            ["/bin/sh", "-c", "git add -A && git commit -q -m bench"], repo)
        for argv in (("reset", "-q", "--hard", "HEAD^"), ("branch", "-q", "-D", f"bench/{number}")):
            stage.run("git", *argv, cwd=repo)
    ratio = median(ours) / median(theirs)
    return Row("`publish` of the same", "<= 500 ms, <= 0.35 x `git add -A && git commit`",
               f"{median(ours):.0f} ms, git {median(theirs):.0f} ms: {ratio:.2f}",
               median(ours) <= 500 and ratio <= 0.35)


SIZE = 4 << 30
KEPT = 64 << 20


def piped(stage, argv, reader):
    """Seconds for `argv | reader >/dev/null`."""
    start = time.monotonic()
    with subprocess.Popen(argv, cwd=stage.repo(100), env=stage.environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as source:
        subprocess.run(reader, stdin=source.stdout, stdout=subprocess.DEVNULL, check=True)
        source.stdout.close()
        if source.wait() != 0:
            raise RuntimeError(f"bench: {argv} failed")
    return time.monotonic() - start


def output(stage, options, yardstick):
    """Interleaved (GB/s of ours, GB/s of the yardstick); both end in a `cat` to /dev/null."""
    source = ["/usr/bin/head", "-c", str(SIZE), "/dev/zero"]
    ours, theirs = [], []
    for _ in range(5):
        ours.append(piped(stage, [stage.bawn, "run", *options, "--", *source], ["/bin/cat"]))
        theirs.append(piped(stage, ["/bin/sh", "-c", " ".join(source) + " | " + yardstick],
                            ["/bin/cat"]))
        stage.discard_all()
    return SIZE / median(ours) / 1e9, SIZE / median(theirs) / 1e9


def output_kept(stage):
    path = f"{stage.directory}/kept"
    ours, theirs = output(stage, (), f"{stage.build}/bench/bounded_tee {KEPT} {path}")
    os.unlink(path)
    return Row("output, kept", ">= 0.75 x tee to a file of the same bound",
               f"{ours:.2f} GB/s against {theirs:.2f}: {ours / theirs:.2f}", ours >= 0.75 * theirs)


def output_plain(stage):
    ours, theirs = output(stage, ("--ephemeral", "--no-log"), "/bin/cat")
    return Row("output, `--no-log`", ">= 0.9 x a plain pipe",
               f"{ours:.2f} GB/s against {theirs:.2f}: {ours / theirs:.2f}", ours >= 0.9 * theirs)


ROWS = (open_50000, diff_names, publish, output_kept, output_plain)
