"""Faults that others shipped (O-nn, A-nn), where no other file is about them."""
import json
import os
import shutil
import tempfile

from support.marks import as_root, check, equal


@as_root
def test_o09_a_tree_that_overlay_cannot_show_is_copied_and_says_so(box):
    """A mount below the work tree: the job sees its files, changes them in the copy, and the
    receipt names the rung."""
    repo = box.repo(files={"a.txt": "a\n", "sub/.keep": ""})
    script = """
        mount -t tmpfs none sub && echo below >sub/f.txt
        "$BAWN" run --receipt "$RECEIPT" -- \\
            sh -c 'cat sub/f.txt; echo new >sub/f.txt; echo n >n.txt'
        cat sub/f.txt
        "$BAWN" diff --names"""
    receipt = f"{box.home}/receipt.json"
    run = box.command("unshare", "--mount", "--propagation", "private", "sh", "-euc", script,
                      cwd=repo, env={"BAWN": box.bawn_path, "RECEIPT": receipt}).expect(0)
    equal(run.out.split(), ["below", "below", "n.txt", "sub/f.txt"], f"output\n{run.told()}")
    with open(receipt, "rb") as file:
        equal(json.load(file)["workspace"]["rung"], "copy", "rung")
    box.bawn("discard", "--yes", cwd=repo).expect(0)


def test_a13_a_job_cannot_make_a_file_system_of_its_own(box):
    """Nothing of FUSE is inside, so no dead one can leave a process that does not end."""
    repo = box.repo()
    box.shell("test ! -e /dev/fuse && ! grep -q fuse /proc/self/mountinfo",
              options=("--ephemeral",), cwd=repo).expect(0)


def test_a14_a_file_keeps_its_number_while_it_is_written(box):
    """Copy-up, writing at an offset through an old descriptor, and a second name."""
    script = """
import os
before = os.stat("a.txt").st_ino
reader = os.open("a.txt", os.O_RDONLY)
writer = os.open("a.txt", os.O_RDWR)
os.pwrite(writer, b"ONE", 0)
assert os.pread(writer, 3, 0) == b"ONE"
assert os.stat("a.txt").st_ino == before == os.fstat(writer).st_ino, "the number changed"
os.link("a.txt", "b.txt")
# The second name of a copied-up file has a number of its own: overlayfs without an index, which
# needs more rights than an ordinary user has. Both are one file all the same.
os.pwrite(writer, b"TWO", 0)
assert open("b.txt").read(3) == "TWO" and os.stat("b.txt").st_nlink == 2
number = os.stat("b.txt").st_ino
os.rename("b.txt", "src/c.txt")
assert os.stat("src/c.txt").st_ino == number
print("held")
"""
    repo = box.repo(files={"a.txt": "one\n", "src/x": "x\n", "ino.py": script})
    run = box.run("/usr/bin/python3", "ino.py", options=("--ephemeral",), cwd=repo).expect(0)
    equal(run.out, "held\n", "the script")
    check(os.stat(f"{repo}/a.txt").st_nlink == 1, "the host's file has a second name")


def test_a_home_below_a_temporary_directory_is_no_obstacle(box):
    """Where /var/tmp is a link to the sandbox's own /tmp, nothing of the host may be below it."""
    repo = box.repo()
    home = tempfile.mkdtemp(prefix="bawn-test-home.", dir="/var/tmp")
    try:
        run = box.shell('echo x >"$HOME/x" && cd "$HOME" && pwd', options=("--ephemeral",),
                        cwd=repo, env={"HOME": home}).expect(0)
        equal(run.out, home + "\n", "the home inside")
        equal(os.listdir(home), [], "the home outside")
    finally:
        shutil.rmtree(home)
