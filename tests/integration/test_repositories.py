"""Each kind of repository: empty jobs have empty diffs, git works inside, nothing moves outside."""
import os

from support.box import has_word
from support.marks import check, equal


def plain(box):
    return box.repo()


def linked_worktree(box):
    main = box.repo("main")
    box.git("worktree", "add", "-q", "-b", "side", f"{box.work}/side", cwd=main)
    return f"{box.work}/side"


def relative_worktree(box):
    path = linked_worktree(box)
    box.write(f"{path}/.git", "gitdir: ../main/.git/worktrees/side\n")
    box.write(f"{box.work}/main/.git/worktrees/side/gitdir", "../../../../side/.git\n")
    return path


def bare_with_worktree(box):
    seed = box.repo("seed")
    bare = f"{box.work}/all/.bare"
    box.git("clone", "-q", "--bare", seed, bare)
    box.git("config", "user.name", "Test User", cwd=bare)
    box.git("config", "user.email", "test@example.com", cwd=bare)
    box.git("worktree", "add", "-q", f"{box.work}/all/main", "main", cwd=bare)
    return f"{box.work}/all/main"


def with_submodules(box):
    inner = box.repo("inner", {"i.txt": "i\n"})
    middle = box.repo("middle", {"m.txt": "m\n"})
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q")
    box.git(*add, inner, "inner", cwd=middle)
    box.commit(middle, "with inner")
    outer = box.repo("outer")
    box.git(*add, middle, "middle", cwd=outer)
    box.git("-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init",
            "--recursive", cwd=outer)
    box.commit(outer, "with middle")
    return outer


def sparse(box):
    repo = box.repo(files={"a.txt": "a\n", "in/x": "x\n", "out/y": "y\n"})
    box.git("sparse-checkout", "set", "in", cwd=repo)
    return repo


def shallow(box):
    seed = box.repo("seed")
    box.write(f"{seed}/a.txt", "second\n")
    box.commit(seed, "second")
    box.git("clone", "-q", "--depth", "1", f"file://{seed}", f"{box.work}/shallow")
    identity(box, f"{box.work}/shallow")
    return f"{box.work}/shallow"


def split_index(box):
    repo = box.repo()
    box.git("update-index", "--split-index", cwd=repo)
    box.write(f"{repo}/c.txt", "c\n")
    box.commit(repo, "second")
    return repo


def shared_objects(box):
    seed = box.repo("seed")
    box.git("clone", "-q", "--shared", seed, f"{box.work}/shared")
    identity(box, f"{box.work}/shared")
    return f"{box.work}/shared"


def packed(box):
    repo = box.repo()
    box.git("gc", "-q", cwd=repo)
    return repo


def detached(box):
    repo = box.repo()
    box.git("checkout", "-q", "--detach", cwd=repo)
    return repo


def identity(box, path):
    box.git("config", "user.name", "Test User", cwd=path)
    box.git("config", "user.email", "test@example.com", cwd=path)


KINDS = (plain, linked_worktree, relative_worktree, bare_with_worktree, with_submodules, sparse,
         shallow, split_index, shared_objects, packed, detached)


def for_each_kind(box, act):
    """`act(repo)` on a fresh one of every kind; a failure names the kind."""
    top = box.work
    for kind in KINDS:
        box.work = f"{top}/{kind.__name__}"
        os.mkdir(box.work)
        try:
            repo = kind(box)
            box.settle()
            act(repo)
        except AssertionError as error:
            raise type(error)(f"{kind.__name__}: {error}") from error
    box.work = top


def test_empty_job_has_an_empty_diff(box):
    """O-18, E-13, E-14."""
    def act(repo):
        before = box.git("status", "--porcelain", cwd=repo)
        box.run("true", options=("--name", "empty"), cwd=repo).expect(0)
        equal(box.git("status", "--porcelain", cwd=repo), before, "status outside")
        equal(box.kept(repo), [], "kept sandboxes after a job that changed nothing")

    for_each_kind(box, act)


def test_looking_with_git_changes_nothing(box):
    def act(repo):
        run = box.shell("git status --porcelain && git diff --exit-code && git log --oneline -1 && "
                        "git describe --always --dirty", cwd=repo).expect(0)
        lines = run.out.splitlines()
        equal(len(lines), 2, f"lines of output ({run.out!r})")
        check(not lines[-1].endswith("-dirty"), run.told())
        equal(box.kept(repo), [], "kept sandboxes")

    for_each_kind(box, act)


def test_commit_inside_and_publish_outside(box):
    """O-18, RT-18: objects of the host are read, never written."""
    def act(repo):
        refs = box.git("for-each-ref", cwd=repo)
        run = box.shell("echo inside >new.txt && git add new.txt && git commit -q -m 'inside: new' "
                        "&& git rev-parse HEAD && git fsck --no-dangling", cwd=repo).expect(0)
        equal(strip_bawn(box.git("for-each-ref", cwd=repo)), refs, "refs outside")
        equal(box.names(repo), ["new.txt"], f"names ({run.told()})")
        box.bawn("publish", "-m", "outside", "--unreviewed", "--branch", "bawn/x",
                 cwd=repo).expect(0)
        equal(box.git("show", "bawn/x:new.txt", cwd=repo), "inside", "published")
        equal(box.git("log", "-1", "--format=%s|%cn", "bawn/x", cwd=repo), "inside: new|Bawn",
              "the commit made inside")
        box.git("fsck", "--strict", "--no-dangling", cwd=repo)

    for_each_kind(box, act)


def strip_bawn(refs):
    return "\n".join(line for line in refs.split("\n") if "refs/bawn/" not in line)


def test_repository_without_a_commit_gets_a_root_commit(box):
    repo = box.repo(commit=False, files={"a.txt": "a\n"})
    box.shell("git status --porcelain >/dev/null && echo n >n.txt", cwd=repo).expect(0)
    box.bawn("publish", "-m", "first", "--unreviewed", "--branch", "bawn/first",
             "--include-dirty", cwd=repo).expect(0)
    equal(box.git("rev-list", "--count", "bawn/first", cwd=repo), "1", "commits")
    check("n.txt" in box.git("ls-tree", "--name-only", "bawn/first", cwd=repo), "n.txt")


def test_kinds_that_publish_cannot_do_are_named_before_the_run(box):
    repo = f"{box.work}/sha256"
    os.mkdir(repo)
    box.git("init", "-q", "--object-format=sha256", repo)
    box.write(f"{repo}/a.txt", "a\n")
    box.settle()
    run = box.shell("echo b >a.txt", cwd=repo).expect(0)
    check(has_word(run.err, "sha256"), run.told())
    box.bawn("publish", "-m", "x", "--unreviewed", cwd=repo).expect(1)
    box.bawn("apply", "--unreviewed", cwd=repo).expect(0)
    equal(box.read("sha256/a.txt"), "b\n", "a.txt")


def test_nested_repositories_are_left_alone(box):
    repo = box.repo()
    nested = box.repo("repo/vendor/x")
    box.git("commit", "-q", "--allow-empty", "-m", "x", cwd=nested)
    tip = box.git("rev-parse", "HEAD", cwd=nested)
    box.shell("echo x >vendor/x/new; git -C vendor/x status --porcelain", cwd=repo).expect(0)
    equal(box.git("rev-parse", "HEAD", cwd=nested), tip, "nested HEAD")
    equal(box.git("status", "--porcelain", cwd=nested), "", "nested status outside")


def test_credentials_of_the_repository_are_not_inside(box):
    """RT-04: tokens in more than 12 keys; the address itself stays."""
    repo = box.repo()
    token = "TOKEN-7f3a"
    for key, value in (("remote.origin.url", f"https://user:{token}@example.com/x.git"),
                       ("http.extraheader", f"AUTHORIZATION: basic {token}"),
                       ("http.https://example.com/.extraheader", f"AUTHORIZATION: {token}"),
                       ("credential.helper", f"!echo {token}"),
                       ("url.https://x.insteadOf", f"https://{token}@y"),
                       ("http.proxy", f"http://u:{token}@p:1"),
                       ("http.cookieFile", f"/{token}"), ("sendemail.smtpPass", token),
                       ("remote.origin.pushurl", f"https://{token}@example.com/x.git"),
                       ("core.sshCommand", f"ssh -i /{token}"), ("gpg.program", f"/{token}"),
                       ("include.path", f"/{token}"), ("remote.origin.proxy", f"http://{token}@p"),
                       ("alias.x", f"!echo {token}")):
        box.git("config", "--add", key, value, cwd=repo)
    run = box.shell("git config --list; grep -r TOKEN-7f3a .git; cat .git/config",
                    options=("--ephemeral",), cwd=repo)
    check(token not in run.out, run.told())
    check("example.com/x.git" in run.out, "the remote's address itself should be there")


def test_no_program_of_the_repository_runs_outside(box):
    """O-12, the second half."""
    repo = box.repo()
    mark = f"{box.tmp}/ran"
    program = box.write(f"{repo}/.git/prog", f"#!/bin/sh\ntouch {mark}\ncat\n", mode=0o755)
    for hook in ("pre-commit", "post-commit", "reference-transaction", "post-checkout",
                 "post-index-change", "pre-auto-gc"):
        box.write(f"{repo}/.git/hooks/{hook}", f"#!/bin/sh\ntouch {mark}\n", mode=0o755)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "core.editor", "gpg.program",
                "filter.x.clean", "filter.x.smudge", "diff.x.textconv", "diff.x.command"):
        box.git("config", key, program, cwd=repo)
    box.write(f"{repo}/.git/info/attributes", "*.bin diff=x\n")
    if box.exists(mark):
        os.unlink(mark)
    box.shell("echo x >a.txt; echo y >b.bin", cwd=repo).expect(0)
    box.bawn("diff", cwd=repo).expect(0)
    box.bawn("publish", "-m", "x", "--unreviewed", "--branch", "bawn/x", cwd=repo).expect(0)
    check(not box.exists(mark), "a program of the repository ran outside")


def test_lfs_files_are_stored_as_git_lfs_would(box):
    """RT-08: a pointer and an object, without running git-lfs; git-lfs itself agrees."""
    repo = box.repo(files={".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    box.git("lfs", "install", "--local", cwd=repo)
    box.write(f"{repo}/a.bin", b"a\0" * 50_000)
    box.commit(repo, "large")
    script = "printf 'b\\0c\\0' >a.bin; echo new >n.bin; : >empty.bin; echo t >t.txt"
    box.shell(script, cwd=repo).expect(0)
    publish = ("publish", "-m", "x", "--unreviewed")
    run = box.bawn(*publish, "--branch", "bawn/without", cwd=repo).expect(1)
    check(has_word(run.err, "a.bin", "n.bin", "--lfs"), run.told())
    box.bawn(*publish, "--branch", "bawn/x", "--lfs", cwd=repo).expect(0)
    box.git("checkout", "-q", "bawn/x", cwd=repo)
    with open(f"{repo}/a.bin", "rb") as file:
        equal(file.read(), b"b\0c\0", "a.bin, as git-lfs checks it out")
    equal(box.read("repo/n.bin"), "new\n", "n.bin")
    for name in ("a.bin", "n.bin", "empty.bin"):
        added = box.git("hash-object", f"--path={name}", name, cwd=repo)
        equal(box.git("rev-parse", f"bawn/x:{name}", cwd=repo), added, f"as git add: {name}")
    equal(box.git("status", "--porcelain", cwd=repo), "", "status")
    check(has_word(box.git("lfs", "fsck", cwd=repo), "OK"), "git lfs fsck")
    box.git("fsck", "--strict", "--no-dangling", cwd=repo)
