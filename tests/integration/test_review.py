"""diff, publish, apply, discard: what leaves a sandbox, how, and what does not."""
import os
import re
import signal
import subprocess
import time

from support.box import has_word
from support.marks import check, equal

EDIT = "printf 'one\\nTWO\\nthree\\n' >a.txt; echo new >n.txt; chmod +x n.txt; rm src/b.c"


def test_diff_is_a_patch_that_git_applies(box):
    repo = box.repo()
    box.shell(EDIT, cwd=repo).expect(0)
    patch = box.bawn("diff", cwd=repo).expect(0).out_bytes
    check(b"-two\n+TWO\n" in patch, patch.decode())
    other = f"{box.work}/other"
    box.git("clone", "-q", repo, other)
    box.command("git", "apply", "--index", "-", cwd=other, stdin=patch).expect(0)
    equal(box.git("status", "--porcelain", cwd=other).split("\n"),
          ["M  a.txt", "A  n.txt", "D  src/b.c"], "applied")


def test_diff_exit_code_and_names(box):
    repo = box.repo()
    box.shell(EDIT, cwd=repo).expect(0)
    equal(box.names(repo), ["a.txt", "n.txt", "src/b.c"], "names")
    box.bawn("diff", "--exit-code", cwd=repo).expect(1)
    check("a.txt" in box.bawn("diff", "--stat", cwd=repo).expect(0).out, "--stat")


def test_digest_is_stable_and_follows_the_content(box):
    repo = box.repo()
    box.shell("echo x >x", cwd=repo).expect(0)
    first = box.digest(repo)
    equal(box.digest(repo), first, "digest of the same changes")
    box.run("sh", "-c", "echo y >x", options=("--in", "@last"), cwd=repo).expect(0)
    check(box.digest(repo) != first, "the digest did not follow the content")


def test_publish_makes_the_commit_and_touches_nothing_else(box):
    repo = box.repo()
    head = box.git("rev-parse", "HEAD", cwd=repo)
    box.shell(EDIT, cwd=repo).expect(0)
    run = box.bawn("publish", "-m", "fix: it", "--branch", "bawn/fix", "--reviewed",
                   box.digest(repo), cwd=repo).expect(0)
    commit = box.git("rev-parse", "bawn/fix", cwd=repo)
    check(has_word(run.out + run.err, "bawn/fix", commit[:7]), run.told())
    equal(box.git("rev-parse", "bawn/fix^", cwd=repo), head, "parent")
    equal(box.git("log", "-1", "--format=%s|%an|%ae", "bawn/fix", cwd=repo),
          "fix: it|Test User|test@example.com", "subject and author")
    equal(box.git("diff", "--name-status", "main", "bawn/fix", cwd=repo).split("\n"),
          ["M\ta.txt", "A\tn.txt", "D\tsrc/b.c"], "what it changes")
    equal(box.git("ls-tree", "bawn/fix", "n.txt", cwd=repo).split()[0], "100755", "mode")
    equal(box.git("rev-parse", "HEAD", cwd=repo), head, "HEAD")
    equal(box.git("status", "--porcelain", cwd=repo), "", "status outside")
    box.git("fsck", "--strict", "--no-dangling", cwd=repo)
    equal(box.git("for-each-ref", "refs/bawn", cwd=repo), "", "pin refs after the end")


def test_publish_needs_a_review_or_a_word(box):
    repo = box.repo()
    box.shell(EDIT, cwd=repo).expect(0)
    run = box.bawn("publish", "-m", "x", cwd=repo)
    check(run.code in (1, 2) and has_word(run.err, "--reviewed", "--unreviewed"), run.told())
    box.bawn("publish", "-m", "x", "--reviewed", "0" * 64, cwd=repo).expect(1)
    equal(box.git("branch", "--list", "bawn/*", cwd=repo), "", "branches")
    box.bawn("publish", "-m", "x", "--unreviewed", cwd=repo).expect(0)
    check(box.git("branch", "--list", "bawn/*", cwd=repo), "no branch was made")


def test_publish_to_the_checked_out_branch_is_refused_with_the_remedy(box):
    """RT-23."""
    repo = box.repo()
    box.shell(EDIT, cwd=repo).expect(0)
    run = box.bawn("publish", "-m", "x", "--branch", "main", "--unreviewed", cwd=repo).expect(1)
    check(has_word(run.err, "main", "--update-tree"), run.told())
    equal(len(box.git("rev-list", "main", cwd=repo).split()), 1, "commits on main")


def test_update_tree_moves_branch_index_and_tree_together(box):
    repo = box.repo()
    box.shell(EDIT, cwd=repo).expect(0)
    box.bawn("publish", "-m", "x", "--update-tree", "--unreviewed", cwd=repo).expect(0)
    equal(box.git("log", "-1", "--format=%s", "main", cwd=repo), "x", "tip of main")
    equal(box.git("status", "--porcelain", cwd=repo), "", "status")
    equal(box.read("repo/a.txt"), "one\nTWO\nthree\n", "a.txt")


def deploy_of(box, repo, *options):
    """The git command that publish names, run as a person would type it."""
    run = box.bawn("publish", "-m", "x", "--unreviewed", *options, cwd=repo).expect(0)
    command = re.search(r"to take it (?:over|further): (git .*)", run.err)
    check(command, f"no command\n{run.told()}")
    box.command("sh", "-c", command[1], cwd=repo).expect(0)
    box.settle()
    return command[1]


def test_publish_names_the_git_command_that_deploys_it(box):
    """With and without a work tree that moved along; the names are a shell's words."""
    repo = box.repo()
    box.git("init", "-q", "--bare", f"{box.work}/far.git")
    box.git("remote", "add", "far", f"{box.work}/far.git", cwd=repo)
    box.shell("echo 1 >one.txt", cwd=repo).expect(0)
    equal(deploy_of(box, repo, "--branch", "a;touch${IFS}x'y"),
          "git merge 'a;touch${IFS}x'\\''y'", "onto another branch")
    equal(sorted(os.listdir(repo)), [".git", "a.txt", "one.txt", "src"], "the tree")
    box.shell("echo 2 >two.txt", cwd=repo).expect(0)
    equal(deploy_of(box, repo, "--update-tree"), "git merge main", "no remote is the branch's")
    box.git("config", "branch.main.remote", "far", cwd=repo)
    box.shell("echo 3 >three.txt", cwd=repo).expect(0)
    equal(deploy_of(box, repo, "--update-tree"), "git push far main", "to its remote")
    equal(box.git("rev-parse", "main", cwd=f"{box.work}/far.git"),
          box.git("rev-parse", "main", cwd=repo), "main there")


COMMITS = ("git config user.name 'A Gent' && git config user.email agent@inside && "
           "echo two >two.txt && git add two.txt && git commit -qm 'inside: two' && "
           "printf 'one\\nTWO\\nthree\\n' >a.txt && git commit -qam 'inside: a'")


def test_commits_made_inside_come_along(box):
    """RT-11: one by one, with author and message; what is beyond them is one commit more."""
    repo = box.repo()
    base = box.git("rev-parse", "HEAD", cwd=repo)
    box.shell(COMMITS + " && echo rest >rest.txt", cwd=repo).expect(0)
    check("-m" in box.bawn("publish", "--unreviewed", cwd=repo).err, "no word of a message")
    equal(box.git("branch", "--list", "bawn/*", cwd=repo), "", "branches after a refusal")
    run = box.bawn("publish", "--unreviewed", "-m", "the rest", "--branch", "bawn/x",
                   cwd=repo).expect(0)
    check(has_word(run.err, "2 commits made inside"), run.told())
    equal(box.git("log", "--format=%s|%an|%cn", "main..bawn/x", cwd=repo).split("\n"),
          ["the rest|Test User|Bawn", "inside: a|A Gent|Bawn", "inside: two|A Gent|Bawn"], "log")
    equal(box.git("rev-parse", "bawn/x~3", cwd=repo), base, "what it goes on from")
    equal(box.git("show", "--format=", "--name-only", "bawn/x~2", cwd=repo), "two.txt", "the first")
    box.git("fsck", "--strict", "--no-dangling", cwd=repo)
    equal(box.git("status", "--porcelain", cwd=repo), "", "status outside")
    equal(box.kept(repo), [], "sandboxes")


def test_the_job_that_lists_commits_leaves_a_receipt(box):
    """Every job does. What list, show, why and logs are about stays the job that was asked for."""
    repo = box.repo()
    box.shell(COMMITS + " && echo said && exit 3", options=("--name", "k"), cwd=repo).expect(3)
    box.bawn("publish", "k", "--unreviewed", "--branch", "bawn/x", "--path", "a.txt",
             "-m", "x", cwd=repo)  # refused or not: the commits are listed
    receipts = box.json("show", "k", cwd=repo)["receipts"]
    equal(len(receipts), 2, "receipts")
    equal(receipts[0]["outcome"]["exit_code"], 3, "the first that is shown")
    listing = receipts[1]
    check("rev-list" in " ".join(listing["command"]), f"command {listing['command']}")
    equal(listing["outcome"]["kind"], "exited", "its outcome")
    equal(listing["outcome"]["exit_code"], 0, "its exit code")
    check(listing["output"]["stdout"]["bytes_total"] > 0, f"its output {listing['output']}")
    states = {layer["name"]: layer["state"] for layer in listing["containment"]["layers"]}
    equal(states.get("seccomp"), "held", f"its walls {states}")
    check("workspace.added" in listing["unmeasured"], "what it did not measure")
    equal(box.bawn("logs", "k", cwd=repo).expect(0).out, "said\n", "logs")
    equal(box.bawn("show", "k", cwd=repo).expect(0).out.count("rev-list"), 0, "show")


def test_everything_committed_inside_needs_no_message(box):
    repo = box.repo()
    box.shell(COMMITS, cwd=repo).expect(0)
    box.bawn("publish", "--reviewed", box.digest(repo), "--update-tree", cwd=repo).expect(0)
    equal(box.git("log", "--format=%s", "main", cwd=repo).split("\n"),
          ["inside: a", "inside: two", "base"], "log of main")
    equal(box.git("status", "--porcelain", cwd=repo), "", "status")
    box.git("fsck", "--strict", "--no-dangling", cwd=repo)


def test_squash_leaves_commits_made_inside_there(box):
    repo = box.repo()
    box.shell(COMMITS, cwd=repo).expect(0)
    box.bawn("publish", "--unreviewed", "-m", "one", "--squash", "--branch", "bawn/x",
             cwd=repo).expect(0)
    equal(box.git("log", "--format=%s|%an", "main..bawn/x", cwd=repo), "one|Test User", "log")


def test_commits_of_a_continued_sandbox_go_on_from_the_last_publish(box):
    repo = box.repo()
    box.shell(COMMITS + " && mkfifo stays", cwd=repo).expect(0)
    publish = ("publish", "--unreviewed", "--branch", "bawn/x")
    box.bawn(*publish, cwd=repo).expect(1)  # but for the FIFO, which is named
    first = box.git("rev-parse", "bawn/x", cwd=repo)
    box.run("sh", "-c", "echo m >more && git add more && git commit -qm 'inside: more'",
            options=("--in", "@last"), cwd=repo).expect(0)
    box.bawn(*publish, cwd=repo).expect(1)
    equal(box.git("log", "--format=%s", "main..bawn/x", cwd=repo).split("\n"),
          ["inside: more", "inside: a", "inside: two"], "log")
    equal(box.git("rev-parse", "bawn/x^", cwd=repo), first, "what the second goes on from")
    box.git("fsck", "--strict", "--no-dangling", cwd=repo)


def test_a_git_inside_that_lies_gets_nothing_out(box):
    """RT-11: whatever the payload made of its git, it is refused by name or only bytes come out;
    no program of its choice runs outside."""
    traps = (
        ("git config core.fsmonitor 'touch ../trap'; git config core.pager 'touch ../trap'; "
         "printf '#!/bin/sh\\ntouch ../trap\\n' >.git/hooks/post-rewrite; "
         "printf '#!/bin/sh\\ntouch ../trap\\n' >git; chmod +x git .git/hooks/*", 0),
        ("git replace HEAD~1 $(git commit-tree -m other HEAD^{tree})", 0),
        ("git checkout -q --orphan elsewhere && git commit -qm orphan", 1),
        ("for o in .git/objects/??/*; do chmod u+w $o; echo junk >$o; done", 1),
        ("rm -rf .git/objects/??; echo x >.git/objects/stray", 1),
        ("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub && "
         "git commit -qm submodule", 1),
        ("echo key >key && git add key && git commit -qm k && git rm -q key && git commit -qm r",
         1),
        ("truncate -s 260M big && git add big && git commit -qm big && git rm -q big && "
         "git commit -qm gone", 1),
    )
    for number, (trap, code) in enumerate(traps):
        repo = box.repo(f"repo{number}")
        box.shell(f"mkdir -p .git/hooks; {COMMITS}; {trap}", cwd=repo)
        publish = ("publish", "--unreviewed", "-m", "x", "--branch", "bawn/x")
        run = box.bawn(*publish, cwd=repo).expect(code)
        check(code == 0 or "--squash" in run.err or "--yes-path" in run.err, run.told())
        check(not box.exists("trap"), f"something ran outside: {trap}")
        if code == 1:
            equal(box.git("branch", "--list", "bawn/*", cwd=repo), "", f"branches: {trap}")
            box.bawn(*publish, "--squash", cwd=repo).expect(0)
        box.git("fsck", "--strict", "--no-dangling", cwd=repo)


def test_more_history_than_fits_is_refused_by_its_limit(box):
    """600 MiB of it in a few KiB of packed zeros: the job that lists it is ended."""
    repo = box.repo()
    box.shell("git config core.bigFileThreshold 1; for i in 1 2 3; do truncate -s 200M big$i; "
              "echo $i >>big$i; done; git add . && git commit -qm big && git rm -q big1 big2 big3 "
              "&& git commit -qm gone; echo n >n", cwd=repo).expect(0)
    run = box.bawn("publish", "-m", "x", "--unreviewed", cwd=repo).expect(1)
    check(has_word(run.err, "limit", "output", "--squash"), run.told())
    box.bawn("publish", "-m", "x", "--unreviewed", "--squash", cwd=repo).expect(0)


def test_gated_paths_need_an_explicit_yes(box):
    """O-12: judged by the result, whether or not the path existed before."""
    repo = box.repo()
    box.shell("echo 'touch /tmp/x' >.envrc; mkdir -p .github/workflows .vscode .claude; "
              "echo a >.github/workflows/x.yml; echo b >.vscode/tasks.json; "
              "echo c >.claude/settings.json", cwd=repo).expect(0)
    paths = [".claude/settings.json", ".envrc", ".github/workflows/x.yml", ".vscode/tasks.json"]
    run = box.bawn("publish", "-m", "x", "--unreviewed", cwd=repo).expect(1)
    check(has_word(run.err, *paths), run.told())
    some = [word for path in paths[:3] for word in ("--yes-path", path)]
    run = box.bawn("publish", "-m", "x", "--unreviewed", *some, cwd=repo).expect(1)
    check(has_word(run.err, paths[3]), run.told())
    run = box.bawn("apply", "--unreviewed", cwd=repo).expect(1)
    check(not box.exists("repo/.envrc"), "apply wrote a gated path")
    box.bawn("publish", "-m", "x", "--unreviewed", "--branch", "bawn/x", *some, "--yes-path",
             paths[3], cwd=repo).expect(0)
    equal(box.git("ls-tree", "-r", "--name-only", "bawn/x", cwd=repo).split("\n")[:4], paths,
          "published")


def test_git_directory_never_leaves(box):
    repo = box.repo()
    box.shell("git config core.fsmonitor 'touch /tmp/pwned'; echo x >.git/hooks/post-checkout; "
              "mkdir -p sub/.git; echo y >sub/.git/config; echo z >ok.txt", cwd=repo).expect(0)
    names = box.names(repo)
    check("ok.txt" in names and not [n for n in names if n.startswith(".git")], str(names))
    run = box.bawn("apply", "--unreviewed", "--yes-path", "sub/.git/config", cwd=repo).expect(1)
    check("sub/.git/config" in run.err, run.told())
    check(not box.exists("repo/sub/.git"), "apply wrote a nested .git")
    box.bawn("apply", "--unreviewed", "--path", "ok.txt", cwd=repo)
    equal(box.read("repo/ok.txt"), "z\n", "ok.txt")
    equal(box.command("git", "config", "core.fsmonitor", cwd=repo).code, 1, "core.fsmonitor")
    check(not box.exists("repo/.git/hooks/post-checkout"), "a hook arrived")


def test_apply_writes_the_tree_and_undo_puts_it_back(box):
    repo = box.repo()
    box.shell(EDIT, cwd=repo).expect(0)
    box.bawn("apply", "--reviewed", box.digest(repo), cwd=repo).expect(0)
    equal(box.read("repo/a.txt"), "one\nTWO\nthree\n", "a.txt")
    equal(os.stat(f"{repo}/n.txt").st_mode & 0o7777, 0o755, "mode of n.txt")
    check(not box.exists("repo/src/b.c"), "src/b.c is still there")
    equal(len(box.git("rev-list", "--all", cwd=repo).split()), 1, "commits")
    box.bawn("apply", "--undo", "--unreviewed", cwd=repo).expect(0)
    equal(box.git("status", "--porcelain", cwd=repo), "", "status after undo")


def test_apply_strips_what_a_tree_must_not_get(box):
    repo = box.repo()
    box.shell("echo x >s; chmod 6755 s; ln -s /etc/passwd abs; ln -s ../../.. up; ln -s a.txt ok",
              cwd=repo).expect(0)
    run = box.bawn("apply", "--unreviewed", cwd=repo).expect(1)
    check(has_word(run.err, "abs", "up"), run.told())
    box.bawn("apply", "--unreviewed", "--yes-path", "abs", "--yes-path", "up", cwd=repo).expect(0)
    equal(os.stat(f"{repo}/s").st_mode & 0o7777, 0o755, "mode of s")
    equal(os.readlink(f"{repo}/ok"), "a.txt", "link")


def test_an_apply_of_a_part_hides_no_change_of_the_host(box):
    """RT-09: a new name in a directory that the host changed needs its yes, although Bawn itself
    was at work there meanwhile, too."""
    repo = box.repo()
    box.shell("echo n >>src/b.c; echo n >src/new.c; echo n >new.txt", cwd=repo).expect(0)
    box.settle()
    box.write(f"{repo}/src/mine", "m\n")
    os.unlink(f"{repo}/src/mine")
    box.bawn("apply", "--unreviewed", "--path", "src/b.c", cwd=repo).expect(0)
    run = box.bawn("apply", "--unreviewed", cwd=repo).expect(1)
    check(has_word(run.err, "src/new.c", "--yes-path"), run.told())
    check(box.exists("repo/new.txt") and not box.exists("repo/src/new.c"), "what was applied")
    box.bawn("apply", "--unreviewed", "--yes-path", "src/new.c", cwd=repo).expect(0)
    equal(box.kept(repo), [], "kept")


def test_a_path_the_host_changed_meanwhile_is_not_overwritten(box):
    repo = box.repo()
    box.shell("echo inside >a.txt; echo fine >n.txt", cwd=repo).expect(0)
    box.write(f"{repo}/a.txt", "outside\n")
    run = box.bawn("apply", "--unreviewed", cwd=repo)
    check(run.code == 1 and "a.txt" in run.err, run.told())
    equal(box.read("repo/a.txt"), "outside\n", "a.txt")


def test_both_sides_of_a_file_are_merged_on_request(box):
    repo = box.repo(files={"a.txt": "1\n2\n3\n4\n5\n", "b.txt": "1\n"})
    box.shell("printf '1\n2\n3\n4\nfive\n' >a.txt; echo inside >b.txt", cwd=repo).expect(0)
    box.write(f"{repo}/a.txt", "one\n2\n3\n4\n5\n")
    box.write(f"{repo}/b.txt", "outside\n")
    run = box.bawn("apply", "--unreviewed", cwd=repo).expect(1)
    check(has_word(run.err, "a.txt", "--merge"), run.told())
    run = box.bawn("apply", "--unreviewed", "--merge", cwd=repo).expect(1)
    check(has_word(run.err, "b.txt", "same lines") and "a.txt" not in run.err, run.told())
    equal(box.read("repo/a.txt"), "one\n2\n3\n4\nfive\n", "a.txt")
    equal(box.read("repo/b.txt"), "outside\n", "b.txt")


def test_uncommitted_base_changes_are_published_only_on_request(box):
    repo = box.repo()
    box.write(f"{repo}/a.txt", "my unfinished work\n")
    box.settle()
    box.shell("echo more >>a.txt; echo n >n.txt", cwd=repo).expect(0)
    check(has_word(box.bawn("diff", cwd=repo).expect(0).out, "uncommitted"), "diff does not say it")
    run = box.bawn("publish", "-m", "x", "--unreviewed", cwd=repo)
    check(run.code == 1, run.told())
    check(has_word(run.err, "a.txt", "uncommitted", "--include-dirty"), run.told())
    for branch in box.git("branch", "--list", "--format=%(refname)", "bawn/*", cwd=repo).split():
        equal(box.git("show", f"{branch}:a.txt", cwd=repo), "one\ntwo\nthree", branch)
    box.bawn("publish", "-m", "x", "--unreviewed", "--branch", "bawn/x", "--include-dirty",
             cwd=repo).expect(0)
    equal(box.git("show", "bawn/x:a.txt", cwd=repo), "my unfinished work\nmore", "published")


def test_ignored_changes_are_counted_not_published(box):
    repo = box.repo(files={".gitignore": "*.o\n", "a.txt": "a\n"})
    box.shell("echo x >x.o; echo '*' >.gitignore; echo evil >evil.sh", cwd=repo).expect(0)
    equal(box.names(repo), [".gitignore", "evil.sh"], "names, by the base's ignore rules")
    out = box.bawn("diff", cwd=repo).expect(0)
    check("1" in out.out + out.err and has_word(out.out + out.err, "ignored"), out.told())


def test_discard_is_complete(box):
    repo = box.repo()
    box.shell("mkdir -p closed/in; echo x >closed/in/f; chmod 000 closed/in closed; "
              "d=deep; for i in 1 2 3 4 5 6 7 8 9; do d=$d/deeper; done; mkdir -p $d; "
              "echo x >s; chmod 4755 s; touch \"$(printf 'a\\nb\\377')\"", cwd=repo).expect(0)
    box.bawn("discard", "--yes", cwd=repo).expect(0)
    equal(box.kept(repo), [], "sandboxes")
    equal(box.git("for-each-ref", "refs/bawn", cwd=repo), "", "pin refs")
    left = [base for base, _, files in os.walk(f"{box.state}/sb") if "s" in files]
    equal(left, [], "layers")


def test_several_sandboxes_are_never_guessed(box):
    repo = box.repo()
    box.run("sh", "-c", "echo 1 >x", options=("--name", "first"), cwd=repo).expect(0)
    box.run("sh", "-c", "echo 2 >x", options=("--name", "second"), cwd=repo).expect(0)
    run = box.bawn("publish", "-m", "x", "--unreviewed", cwd=repo).expect(1)
    check(has_word(run.err, "first", "second"), run.told())
    box.bawn("publish", "first", "-m", "x", "--unreviewed", "--branch", "bawn/x",
             cwd=repo).expect(0)
    equal(box.git("show", "bawn/x:x", cwd=repo), "1", "published")
    box.bawn("discard", "@last", "--yes", cwd=repo).expect(0)


def test_names_of_any_bytes(box):
    repo = box.repo()
    names = [b"new\nline", b"tab\t", b"\xff\xfe", b"quo\"te", b" lead", b"esc\x1b[31m", b"-dash"]
    script = b"; ".join(b"echo x >./$(printf '%s')" % b"".join(b"\\%03o" % c for c in name)
                        for name in names)
    script = script.replace(b"./$(", b'"./$(').replace(b"')", b"')\"")
    box.run("sh", "-c", script.decode(), cwd=repo).expect(0)
    wanted = sorted(n.decode(errors="surrogateescape") for n in names)
    equal(box.names(repo), wanted, "names")
    run = box.bawn("diff", cwd=repo).expect(0)
    check(b"\x1b[31m" not in run.out_bytes, "an escape came through")
    box.bawn("publish", "-m", "x", "--unreviewed", "--branch", "bawn/x", cwd=repo).expect(0)
    tree = box.command("git", "ls-tree", "-z", "--name-only", "bawn/x", cwd=repo).out_bytes
    equal(sorted(n for n in tree.split(b"\0") if n and n not in (b"a.txt", b"src")), sorted(names),
          "published names")


def test_outside_of_a_repository_apply_works_and_publish_says_why(box):
    path = f"{box.work}/plain"
    box.write("plain/a.txt", "a\n")
    box.settle()
    box.shell("echo b >a.txt; echo n >n.txt", cwd=path).expect(0)
    run = box.bawn("publish", "-m", "x", "--unreviewed", cwd=path).expect(1)
    check(has_word(run.err, "apply"), run.told())
    box.bawn("apply", "--unreviewed", cwd=path).expect(0)
    equal(box.read("plain/a.txt"), "b\n", "a.txt")


def test_a_branch_of_somebody_else_is_never_lost(box):
    """RT-23: the branch exists and points elsewhere; its tip stays reachable from it."""
    repo = box.repo()
    box.git("checkout", "-q", "-b", "bawn/x", cwd=repo)
    box.git("commit", "-q", "--allow-empty", "-m", "theirs", cwd=repo)
    tip = box.git("rev-parse", "HEAD", cwd=repo)
    box.git("checkout", "-q", "main", cwd=repo)
    box.shell("echo n >n.txt", cwd=repo).expect(0)
    run = box.bawn("publish", "-m", "ours", "--unreviewed", "--branch", "bawn/x", cwd=repo)
    kept = box.command("git", "merge-base", "--is-ancestor", tip, "bawn/x", cwd=repo).code == 0
    check(kept, run.told())


def test_a_directory_swapped_on_the_host_is_noticed(box):
    """RT-09, O-11: the same names, other files; nothing of it is overwritten."""
    repo = box.repo()
    box.shell("echo inside >src/b.c", cwd=repo).expect(0)
    box.write(f"{repo}/fresh/b.c", "somebody else's\n")
    os.rename(f"{repo}/src", f"{repo}/old")
    os.rename(f"{repo}/fresh", f"{repo}/src")
    run = box.bawn("apply", "--unreviewed", cwd=repo)
    check(run.code == 1 and "src/b.c" in run.err, run.told())
    equal(box.read("repo/src/b.c"), "somebody else's\n", "src/b.c")


def kill_after(box, delay, *argv, cwd):
    """kill -9 of bawn and its worker together, somewhere on their way."""
    process = box.start(box.bawn_path, *argv, cwd=cwd, start_new_session=True,
                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
    time.sleep(delay)
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return process.wait()


# An act takes some 10 ms where nothing else runs, and several times that beside other work.
DELAYS = [0.001 * n for n in range(1, 11)] + [0.014, 0.02, 0.03, 0.045, 0.06]


def test_update_tree_killed_anywhere_is_taken_up_by_the_next_command(box):
    repo = box.repo()
    killed = 0
    for number, delay in enumerate(DELAYS):
        box.settle()
        box.shell(f"echo {number} >a.txt; mkdir -p d{number}; echo x >d{number}/n; rm -f gone",
                  cwd=repo).expect(0)
        code = kill_after(box, delay, "publish", "-m", f"round {number}", "--update-tree",
                          "--unreviewed", cwd=repo)
        killed += code == -signal.SIGKILL
        box.bawn("diff", "--stat", cwd=repo)
        equal(box.git("status", "--porcelain", cwd=repo), "", f"status after {delay}")
        check(not box.exists("repo/.git/index.lock"), "index.lock stays")
        moved = box.git("log", "-1", "--format=%s", cwd=repo) == f"round {number}"
        if not moved:
            equal(len(box.kept(repo)), 1, "what waits for review")
            box.bawn("publish", "-m", f"round {number}", "--update-tree", "--unreviewed",
                     cwd=repo).expect(0)
        equal(box.kept(repo), [], "what waits for review after it")
        equal(box.read("repo/a.txt"), f"{number}\n", "a.txt")
    check(killed > 2, f"only {killed} of them were killed in time")
    box.git("fsck", "--strict", "--no-dangling", cwd=repo)


def test_apply_and_undo_killed_anywhere_can_be_taken_back(box):
    repo = box.repo()
    for delay in DELAYS:
        box.settle()
        box.shell(EDIT, cwd=repo).expect(0)
        name = box.kept(repo)[0]
        kill_after(box, delay, "apply", name, "--unreviewed", cwd=repo)
        box.bawn("diff", "--stat", name, cwd=repo)
        if box.read("repo/a.txt") == "one\ntwo\nthree\n":
            equal(box.git("status", "--porcelain", cwd=repo), "", f"nothing done after {delay}")
            # What the killed one staged and took away again moved the directory's time, so that
            # nobody can tell any more who did: a new name needs a yes (RT-09).
            box.bawn("apply", name, "--unreviewed", "--yes-path", "n.txt", cwd=repo).expect(0)
        equal(box.git("status", "--porcelain", cwd=repo).split("\n"),
              [" M a.txt", " D src/b.c", "?? n.txt"], f"all done after {delay}")
        kill_after(box, delay, "apply", name, "--undo", cwd=repo)
        box.bawn("diff", "--stat", name, cwd=repo)
        if box.git("status", "--porcelain", cwd=repo):
            box.bawn("apply", name, "--undo", cwd=repo).expect(0)
        equal(box.git("status", "--porcelain", cwd=repo), "", f"taken back after {delay}")
        box.bawn("discard", name, "--yes", cwd=repo)
