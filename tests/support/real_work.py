"""Real work inside, untouched outside: what every test of tests/work does around its commands."""
import os
import shutil

from . import digest
from .marks import Failure, check, equal

HOST_FILE = "outside/notes.txt"


def needs(*programs):
    """The tools come from Debian packages (tools/packages-accept.txt); one missing is a failure
    that says which, never a skip."""
    for program in programs:
        if shutil.which(program) is None:
            raise Failure(f"{program} is missing: tools/install-packages --accept")


def project(box, files, name="repo", prepare=()):
    """A committed repository with these files; `prepare`: commands of the host before the commit
    (what a person has there already: vendored or installed dependencies)."""
    box.write(HOST_FILE, "of the host\n")
    box.write(f"{box.home}/.profile", "# of the host\n")
    path = box.repo(name, files, commit=False)
    for argv in prepare:
        box.command(*argv, cwd=path, seconds=120).expect(0)
    box.commit(path)
    return path


def job(box, repo, script, options=(), seconds=300):
    """The script as a job that is kept; it must end with 0. The host's files must be the same
    before, after and once the changes are gone; what changed must be listed. Returns (Run, paths
    changed)."""
    roots = (box.work, box.home)
    before, before_pins = digest.tree(*roots), digest.tree(*roots, pins=True)
    run = box.run("sh", "-euc", script, options=options, cwd=repo, seconds=seconds)
    run.expect(0)
    same(before, digest.tree(*roots), "after the job")
    names = changed(box, repo)
    if names:
        stat = box.bawn("diff", "--stat", "--ignored", cwd=repo, seconds=60).expect(0)
        check(stat.out.strip(), f"no summary of {len(names)} changes\n{stat.told()}")
        same(before, digest.tree(*roots), "after the review")
        box.bawn("discard", "--yes", cwd=repo, seconds=60).expect(0)
    equal(box.kept(repo), [], "sandboxes that wait")
    same(before_pins, digest.tree(*roots, pins=True), "after discard")
    return run, names


def changed(box, repo):
    """Every changed path, those that git ignores among them."""
    if not box.kept(repo):
        return []
    out = box.bawn("diff", "--names", "-z", "--ignored", cwd=repo, seconds=60).expect(0).out_bytes
    return sorted(os.fsdecode(name) for name in out.split(b"\0") if name)


def same(before, after, when):
    lines = digest.difference(before, after)
    check(not lines, f"the host's files are not the same {when}:\n  " + "\n  ".join(lines[:20]))


def has_line(run, text):
    check(text in run.out.splitlines(), f"no line {text!r}\n{run.told()}")
