"""Where the changes of an ephemeral run are (docs/adr/0009), and that git inside is the same."""
import json
import os
import signal
import subprocess

from support.marks import as_root, check, equal

GIT = """git status --porcelain; git log --format=%s; git stash list
echo more >>a.txt; git commit -qam inside; git log -1 --format=%s; git fsck --strict
test -d .git/hooks && test -w .git/config; git worktree list | wc -l"""


def layers(box):
    """Directories of changes below the state directory."""
    return sorted(name for one in os.listdir(f"{box.state}/sb")
                  for name in os.listdir(f"{box.state}/sb/{one}")
                  if name in ("initial", "layers", "git"))


def run_and_look(box, repo, script, *options):
    """Output of a shell script in an ephemeral run, and `layers` while it runs."""
    with box.start(box.bawn_path, "run", "--ephemeral", "--quiet", *options, "--", "sh", "-euc",
                   "echo up; read go; " + script, cwd=repo, stdin=subprocess.PIPE,
                   stdout=subprocess.PIPE, text=True) as process:
        equal(process.stdout.readline(), "up\n", "the job's first line")
        seen = layers(box)
        process.stdin.write("go\n")
        process.stdin.close()
        out = process.stdout.read()
        equal(process.wait(), 0, f"status; output: {out}")
    equal(layers(box), [], "layers afterwards")
    return out, seen


def held_in_memory(box):
    """Not in root mode, whose lease of ids is found by files on disk."""
    return not box.is_root


def test_changes_are_held_in_memory(box):
    repo = box.repo(files={"a.txt": "a\n", "d/b.txt": "b\n"})
    expected = [] if held_in_memory(box) else ["initial", "layers"]
    out, seen = run_and_look(box, repo, "echo x >new; rm -r d; mkdir d; ls d; " + GIT)
    equal(seen, expected, "layers of the live run")
    equal(out.splitlines()[0:3], [" D d/b.txt", "?? new", "base"], f"git inside:\n{out}")
    check("inside" in out.splitlines(), f"git inside:\n{out}")
    equal(box.git("status", "--porcelain", cwd=repo), "", "the user's tree")


def test_a_limit_keeps_them_on_disk_where_it_is_measured(box):
    repo = box.repo()
    _, seen = run_and_look(box, repo, "echo x >new", "--disk", "1GiB")
    equal(seen, ["initial", "layers"], "layers of the live run")
    script = "for i in $(seq 64); do head -c 1000000 /dev/zero >f$i; done; sleep 20"
    run, receipt = box.receipt("sh", "-c", script, options=("--ephemeral", "--disk", "8MiB"),
                               cwd=repo, seconds=60)
    equal(receipt["outcome"]["killed_by"], "disk", f"outcome\n{run.told()}")
    equal(layers(box), [], "layers afterwards")


def test_other_kinds_of_repository(box):
    """Those whose git directory another one may lie in have it on disk; all work alike."""
    repo = box.repo()
    for kind in ("nested", "submodule", "worktree", "staged"):
        tree = box.repo(name=kind, files={"a.txt": "a\n"})
        if kind == "nested":
            box.git("init", "-q", "inner", cwd=tree)
            box.git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q",
                    "--allow-empty", "-m", "inner", cwd=f"{tree}/inner")
        elif kind == "submodule":
            box.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repo, "sub",
                    cwd=tree)
            box.git("commit", "-qm", "sub", cwd=tree)
        elif kind == "worktree":
            box.git("worktree", "add", "-q", f"{box.work}/linked", cwd=tree)
            tree = f"{box.work}/linked"
        else:
            box.write(f"{tree}/b.txt", "b\n")
            box.git("add", "b.txt", cwd=tree)
        before = box.git("status", "--porcelain", cwd=tree)
        out, _ = run_and_look(box, tree, "git status --porcelain; git log -1 --format=%H; "
                              "echo y >>a.txt; git commit -qam t; git fsck")
        expected = [*before.splitlines(), box.git("log", "-1", "--format=%H", cwd=tree)]
        equal(out.splitlines(), expected, f"{kind}: git inside")
        equal(box.git("status", "--porcelain", cwd=tree), before, f"{kind}: git outside")


def test_git_sees_a_change_of_the_same_second(box):
    """The index keeps its time: an entry as young as the index itself is read again. The two texts
    have one size and one time, so nothing else tells them apart."""
    repo = box.repo(files={"a.txt": "one\n"})
    script = ('at="touch -d @1700000000"; echo two >a.txt; $at a.txt; git add a.txt; '
              'echo six >a.txt; $at a.txt .git/index; '
              'exec "$0" run --ephemeral --quiet -- git status --porcelain')
    run = box.command("sh", "-euc", script, box.bawn_path, cwd=repo).expect(0)
    equal(run.out, "MM a.txt\n", "git inside")


def test_a_protected_file_is_covered(box):
    repo = box.repo(files={"a.txt": "a\n"})
    box.write(f"{repo}/.env", "SECRET=1\n")
    run = box.run("sh", "-c", "cat .env; git log --format=%s", options=("--ephemeral",),
                  cwd=repo).expect(0)
    equal(run.out, "base\n", "output")
    equal(layers(box), [], "layers afterwards")


def test_a_killed_run_is_told_and_leaves_nothing(box):
    repo = box.repo()
    process = box.start(box.bawn_path, "run", "--ephemeral", "--quiet", "--", "sh", "-c",
                        "echo up; exec sleep 1000", cwd=repo, stdout=subprocess.PIPE, text=True)
    equal(process.stdout.readline(), "up\n", "the job's first line")
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    recovered = box.json("list", "--all", cwd=repo)["recovered"]
    check(len(recovered) == 1 and "was interrupted; nothing of it is left" in recovered[0],
          f"words: {recovered}")
    for sandbox in os.listdir(f"{box.state}/sb"):
        with open(f"{box.state}/sb/{sandbox}/meta.json", encoding="utf-8") as file:
            equal(json.load(file)["state"], "interrupted", "the record")
    equal(layers(box), [], "layers afterwards")


@as_root
def test_root_keeps_them_on_disk(box):
    repo = box.repo()
    _, seen = run_and_look(box, repo, "echo x >new")
    equal(seen, ["initial", "layers"], "layers of the live run")
