"""git inside: what a person does in a day, and what the host's repository keeps of it: nothing."""
from support.marks import check, equal
from support.real_work import has_line, job, project

FILES = {"a.txt": "".join(f"{i}\n" for i in range(40)), "src/b.c": "int b;\n"}


def history(box):
    repo = project(box, FILES)
    for number in range(3):
        box.write(f"{repo}/log.txt", f"entry {number}\n")
        box.commit(repo, f"entry {number}")
    box.git("branch", "side", "HEAD~2", cwd=repo)
    box.git("tag", "v1", cwd=repo)
    box.settle()
    return repo


def test_status_add_commit_amend_and_log(box):
    repo = history(box)
    run, _ = job(box, repo, """
        test -z "$(git status --porcelain)"
        echo more >>a.txt; echo new >new.txt
        git status --short
        git add -A && git commit -qm inside && git commit -q --amend -m 'inside, amended'
        git log --oneline | wc -l
        git describe --tags
        git show --stat HEAD | tail -n 1
        git mv new.txt moved.txt && git rm -q src/b.c && git commit -qm moves
        git log --follow --oneline moved.txt | wc -l
        git blame -s a.txt | tail -n 1
        git grep -n more -- a.txt
        git fsck --strict --no-dangling""")
    has_line(run, " M a.txt")
    has_line(run, "5")
    check("v1-1-g" in run.out, run.told())


def test_branch_merge_rebase_stash_and_bisect(box):
    repo = history(box)
    run, _ = job(box, repo, """
        git switch -q side
        sed -i 's/^20$/twenty/' a.txt && git commit -qam twenty
        git switch -q main
        git merge -q --no-edit side && git log --merges --oneline | wc -l
        git switch -q -c topic side
        sed -i 's/^30$/thirty/' a.txt && git commit -qam thirty
        git rebase -q main && git merge-base --is-ancestor main topic && echo rebased
        echo dirty >>a.txt && git stash -q && test -z "$(git status --porcelain)"
        git stash pop -q && git diff --stat | tail -n 1 && git checkout -q -- a.txt
        git switch -q main && sed -i 's/^twenty$/score/' a.txt && git commit -qam score
        git switch -q topic && sed -i 's/^twenty$/XX/' a.txt && git commit -qam XX
        git merge main && exit 1 || git merge --abort
        git cherry-pick --no-commit main 2>/dev/null && exit 1 || git reset -q --hard
        git rebase -q --exec true main 2>/dev/null && exit 1 || git rebase --abort
        git bisect start HEAD v1~1 >/dev/null
        git bisect run sh -c '! grep -q thirty a.txt' | tail -n 1
        git bisect reset >/dev/null 2>&1
        git revert --no-edit HEAD >/dev/null && git gc -q && git fsck""")
    has_line(run, "rebased")
    has_line(run, "1")


def test_worktree_clone_submodule_and_hooks(box):
    repo = history(box)
    run, _ = job(box, repo, """
        git worktree add -q /tmp/other side && (cd /tmp/other && echo x >x && git add x &&
          git commit -qm 'in a worktree' && git log --oneline | wc -l)
        git worktree add -q ../linked -b linked 2>/dev/null || echo 'outside is read-only'
        git worktree remove --force /tmp/other && git worktree prune
        git clone -q . /tmp/clone && git -C /tmp/clone log --oneline | wc -l
        git clone -q --bare . /tmp/bare.git && git push -q /tmp/bare.git HEAD:refs/heads/pushed
        git -C /tmp/bare.git branch --list pushed
        git -c protocol.file.allow=always submodule add -q /tmp/clone sub
        git commit -qm submodule && git submodule status | grep -c sub
        printf '#!/bin/sh\\ntouch hook-ran\\n' >"$(git rev-parse --git-path hooks)/pre-commit" &&
          chmod +x "$(git rev-parse --git-path hooks)/pre-commit"
        git commit -q --allow-empty -m hooked; test -e hook-ran && echo 'hook ran inside'
        git archive HEAD | tar -t | wc -l
        git bundle create -q /tmp/b HEAD && git bundle verify -q /tmp/b && git format-patch -q -1
        git notes add -m n && git tag -a -m t v2 && git reflog | head -n 1""")
    has_line(run, "hook ran inside")
    check("pushed" in run.out, run.told())


def test_what_a_job_did_with_git_can_be_published(box):
    repo = history(box)
    box.shell("git switch -q -c work && echo x >x.txt && git add x.txt && git commit -qm one && "
              "echo y >y.txt && git add y.txt && git commit -qm two", cwd=repo).expect(0)
    box.bawn("publish", "-m", "three", "--branch", "result", "--unreviewed", cwd=repo).expect(0)
    equal(box.git("ls-tree", "--name-only", "result", cwd=repo).split(),
          ["a.txt", "log.txt", "src", "x.txt", "y.txt"], "the published tree")
    box.git("fsck", "--strict", cwd=repo)
    equal(box.git("status", "--porcelain", cwd=repo), "", "the host's tree")
