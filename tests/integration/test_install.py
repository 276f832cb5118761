"""What `./dev install` and the package put on a machine, and that it works from there."""
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

from support.marks import as_builder, check, equal, release_only, timeout

SOURCE = Path(__file__).resolve().parent.parent.parent


@release_only
@as_builder
def test_installed_tree_works_from_any_prefix(box):
    prefix = f"{box.work}/prefix"
    box.command("cmake", "--install", box.build, "--prefix", prefix).expect(0)
    for name in ("bin/bawn", "libexec/bawn/bawn-init", "libexec/bawn/bawn-worker",
                 "libexec/bawn/bawn-policy", "libexec/bawn/add-subids", "share/man/man1/bawn.1",
                 "share/bash-completion/completions/bawn", "share/zsh/site-functions/_bawn",
                 "share/fish/vendor_completions.d/bawn.fish", "share/bawn/apparmor"):
        check(os.path.exists(f"{prefix}/{name}"), f"{name} is not installed")
    moved = f"{box.work}/elsewhere"
    os.rename(prefix, moved)
    # Root's payloads run as ids of their own: a prefix that others may not enter is no place for
    # what they execute.
    os.chmod(box.work, 0o755)
    os.chmod(Path(box.work).parent, 0o755)
    # Root's payloads run as ids of their own: a prefix that others may not enter is no place for
    # what they execute.
    os.chmod(box.work, 0o755)
    os.chmod(Path(box.work).parent, 0o755)
    repo = box.repo()
    box.bawn_path = f"{moved}/bin/bawn"
    box.shell("echo x >x", cwd=repo).expect(0)
    equal(box.names(repo), ["x"], "names")
    box.bawn("publish", "-m", "x", "--unreviewed", "--branch", "bawn/x", cwd=repo).expect(0)


@release_only
@as_builder
@timeout(300)
def test_package_holds_everything_and_declares_what_it_maps(box):
    out = f"{box.work}/out"
    shutil.copytree(f"{box.build}/bin", f"{out}/bin")
    box.command("cpack", "-G", "DEB", "--config", f"{box.build}/CPackConfig.cmake", "-B", out,
                cwd=out, seconds=200).expect(0)
    package = next(Path(out).glob("*.deb"))
    listing = box.command("dpkg-deb", "--contents", str(package)).expect(0).out
    for name in ("./usr/bin/bawn", "./usr/libexec/bawn/bawn-init", "./usr/share/man/man1/bawn.1",
                 "./usr/share/zsh/vendor-completions/_bawn"):
        check(name in listing, f"{name} is not in the package\n{listing}")
    for line in listing.splitlines():
        mode, owner = line.split()[:2]
        equal(owner, "root/root", f"owner in {line}")
        check("s" not in mode, f"setuid or setgid: {line}")
    declared = box.command("dpkg-deb", "--field", str(package), "Depends").expect(0).out
    equal(set(declared.replace(",", " ").split()), needed_libraries(f"{box.build}/bin"),
          "packages of the libraries that the programs map")


def needed_libraries(directory):
    """Debian packages of the shared objects that the programs need."""
    found = set()
    for name in os.listdir(directory):
        if not name.startswith("bawn"):
            continue
        out = subprocess.run(["readelf", "-dW", f"{directory}/{name}"], capture_output=True,
                             text=True, check=True).stdout
        for library in re.findall(r"NEEDED.*\[(\S+)\]", out):
            place = f"*/{os.uname().machine}-linux-gnu/{library}"
            paths = subprocess.run(["dpkg-query", "-S", place], capture_output=True, text=True,
                                   check=True).stdout
            found.add(paths.split(":")[0])
    return found


def add_subids(box, *arguments):
    return box.command(f"{SOURCE}/packaging/add-subids", *arguments,
                       env={"BAWN_ETC": f"{box.work}/etc"})


def test_id_range_is_clear_of_every_other(box):
    box.write("etc/subuid", "a:65536:983040\nb:2097152:1\n", mode=0o644)
    box.write("etc/subgid", "c:3145728:1048576\n", mode=0o644)
    add_subids(box).expect(0)
    equal(box.read("etc/subuid"), "a:65536:983040\nb:2097152:1\nbawn:1048576:1048576\n", "subuid")
    equal(box.read("etc/subgid"), "c:3145728:1048576\nbawn:1048576:1048576\n", "subgid")


def test_id_range_is_made_once_and_removed_alone(box):
    box.write("etc/subuid", "a:1048576:1\n", mode=0o640)
    add_subids(box).expect(0)
    first = box.read("etc/subuid")
    add_subids(box).expect(0)
    equal(box.read("etc/subuid"), first, "subuid after a second call")
    equal(box.read("etc/subgid"), "bawn:2097152:1048576\n", "subgid, made anew")
    equal(stat.S_IMODE(os.stat(f"{box.work}/etc/subuid").st_mode), 0o640, "mode")
    add_subids(box, "--remove").expect(0)
    equal(box.read("etc/subuid"), "a:1048576:1\n", "subuid after removal")
    equal(sorted(os.listdir(f"{box.work}/etc")), ["subgid", "subuid"], "left-overs")


def test_id_range_waits_for_a_holder_of_the_lock_and_then_refuses(box):
    box.write("etc/subuid", "")
    box.write("etc/subuid.lock", "1\n")
    run = add_subids(box)
    check(run.code == 1 and "subuid.lock" in run.err, run.told())
    check(box.exists("etc/subuid.lock"), "it took the holder's lock away")
    equal(box.read("etc/subuid"), "", "subuid")
