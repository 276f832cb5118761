"""Rows about the time of whole runs, beside bubblewrap."""
import os
import subprocess

from stage import Row, against, median

TRUE = "/bin/true"


def ephemeral(stage):
    repo = stage.repo(1000)
    found = stage.samples({"bawn": [stage.bawn, "run", "--ephemeral", "--", TRUE],
                           "bwrap": stage.bwrap(repo, TRUE),
                           "floor": [f"{stage.build}/bench/floor", repo, TRUE]}, repo)
    text, ratio = against(found["bawn"], found["bwrap"])
    floor = median(found["floor"])
    text += f"; the walls alone (floor.c) {floor:.2f} ms: {floor / median(found['bwrap']):.2f}"
    return Row("`bawn run --ephemeral -- /bin/true`, 1,000-file repository", "<= 1.0", text,
               ratio <= 1.0)


def ephemeral_caches(stage):
    """The same with every toolchain and cache directory of the view's table present."""
    repo = stage.repo(1000)
    caches = (".cargo/bin .cargo/registry .cargo/git .rustup go/bin go/pkg/mod .cache/go-build "
              ".m2/repository .gradle/caches .gradle/wrapper .nvm/versions .npm/_cacache "
              ".cache/pip .cache/uv .cache/yarn .local/bin .pyenv/versions .pyenv/shims "
              ".sdkman/candidates .local/share/uv/python").split()
    for name in caches:
        os.makedirs(f"{stage.directory}/home/{name}", exist_ok=True)
    try:
        found = stage.samples({"bawn": [stage.bawn, "run", "--ephemeral", "--", TRUE],
                               "bwrap": stage.bwrap(repo, TRUE)}, repo)
    finally:
        subprocess.run(["rm", "-rf", *(f"{stage.directory}/home/{n.split('/')[0]}"
                                       for n in caches)], check=True)
    text, ratio = against(found["bawn"], found["bwrap"])
    return Row("the same, home with all caches", "<= 1.0", text, ratio <= 1.0)


def profile_changed(stage):
    """One run after the profile's text changed, against one with the compiled form cached."""
    repo = stage.repo(1000)
    folder = f"{stage.directory}/home/.config/bawn/profiles"
    os.makedirs(folder, exist_ok=True)
    changed, cached = [], []
    argv = [stage.bawn, "run", "--ephemeral", "--profile", "bench", "--", TRUE]
    for number in range(15):
        with open(f"{folder}/bench.yaml", "w", encoding="ascii") as file:
            file.write(f"extends: default\nenv:\n  set:\n    BENCH: \"{number}\"\n")
        changed += stage.samples_once(argv, repo)
        cached += stage.samples_once(argv, repo)
    more = median(changed) - median(cached)
    return Row("a changed profile", "<= 10 ms more", f"{more:.1f} ms more", more <= 10)


def kept(stage):
    repo = stage.repo(1000)
    argv = ["/usr/bin/touch", "made-by-bench"]
    found = stage.samples({"bawn": [stage.bawn, "run", "--", *argv],
                           "bwrap": stage.bwrap(repo, *argv, writable=True)}, repo,
                          min(stage.rounds, 100))
    os.unlink(f"{repo}/made-by-bench")
    stage.discard_all()
    text, ratio = against(found["bawn"], found["bwrap"])
    return Row("the kept (default) run, one file changed", "<= 1.4", text, ratio <= 1.4)


def kept_5000(stage):
    repo = stage.repo(1000)
    script = "i=0; while [ $i -lt 5000 ]; do echo $i >n/$i; i=$((i+1)); done"
    os.makedirs(f"{repo}/n", exist_ok=True)
    argv = ["/bin/sh", "-c", script]
    ours, theirs = [], []
    for _ in range(7):
        ours += stage.samples_once([stage.bawn, "run", "--", *argv], repo)
        stage.discard_all()
        theirs += stage.samples_once(stage.bwrap(repo, *argv, writable=True), repo)
        subprocess.run("rm -rf n && mkdir n", shell=True, cwd=repo, check=True)
    os.rmdir(f"{repo}/n")
    text, ratio = against(sorted(ours), sorted(theirs))
    return Row("the kept run with 5,000 changed files", "<= 1.4", text, ratio <= 1.4)


def live_job(stage):
    repo = stage.repo(1000)
    stage.run(stage.bawn, "run", "--keep", "--name", "bench-live", "--", TRUE, cwd=repo)
    found = stage.samples({"live": [stage.bawn, "run", "--in", "bench-live", "--", TRUE],
                           "fresh": [stage.bawn, "run", "--ephemeral", "--", TRUE]}, repo)
    stage.run(stage.bawn, "discard", "--yes", "bench-live", cwd=repo, check=False)
    ratio = median(found["live"]) / median(found["fresh"])
    return Row("a job in a live sandbox", "<= 0.6 x the fresh run",
               f"{median(found['live']):.2f} ms against {median(found['fresh']):.2f}: {ratio:.2f}",
               ratio <= 0.6)


def throughput(stage):
    repo = stage.repo(1000)
    ours, theirs = [], []
    for _ in range(3):
        found = stage.throughput({"bawn": [stage.bawn, "run", "--ephemeral", "--", TRUE],
                                  "bwrap": stage.bwrap(repo, TRUE)}, repo, 8, 4)
        ours.append(found["bawn"])
        theirs.append(found["bwrap"])
    ratio = median(ours) / median(theirs)
    return Row("fresh runs, 8 at once", ">= 1.2 x bwrap",
               f"{median(ours):.0f}/s against {median(theirs):.0f}/s: {ratio:.2f}", ratio >= 1.2)


ROWS = (ephemeral, ephemeral_caches, profile_changed, kept, kept_5000, live_job, throughput)
