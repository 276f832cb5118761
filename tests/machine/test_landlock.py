"""The kernel's own tests of Landlock, outside and inside at each level (docs/machine.md holds what
they showed). Built by tools/build-landlock-selftests."""
import os
import re
import shutil

from support import levels
from support.marks import Failure, accept, check, timeout

PROGRAMS = ("base_test", "fs_test", "ptrace_test")
# Why a test may fail inside that holds outside: it needs what a sandbox must not give.
EXPECTED = {
    r"fs_test: .*": "makes mounts first",
    r"base_test: global\.restrict_self_checks_ordering": "expects that no_new_privs is still off",
    r"base_test: global\.cred_transfer": "uses keyctl",
}


def results(run, name):
    """{test: held}; of a program that came to its end."""
    check("# Totals: pass:" in run.out, f"{name} did not come to its end\n{run.told()}")
    found = re.findall(r"^(ok|not ok) \d+ (\S+)", run.out, re.M)
    check(found, run.told())
    return {f"{name}: {test}": word == "ok" for word, test in found}


@accept
@timeout(600)
def test_selftests_of_the_kernel(box):
    built = f"{box.build}/../accept/landlock"
    if not os.path.exists(f"{built}/source"):
        raise Failure("not built: tools/build-landlock-selftests build/accept/landlock")
    repo = box.repo()
    for name in (*PROGRAMS, "true"):
        shutil.copy(f"{built}/{name}", repo)
    # They make and remove their files where they stand, and mount there: a namespace of their own.
    private = ("unshare", "--mount", "--propagation", "private") if box.is_root else ()
    outside = {}
    for name in PROGRAMS:
        outside |= results(box.command(*private, f"./{name}", cwd=repo, seconds=120), name)
    parts = []
    for level in levels.available(box, repo):
        inside = {}
        for name in PROGRAMS:
            options = ("--ephemeral", "--quiet", "--level", level)
            inside |= results(box.run(f"./{name}", options=options, cwd=repo, seconds=120), name)
        lost = [test for test, held in outside.items() if held and not inside.get(test)
                and not any(re.fullmatch(pattern, test) for pattern in EXPECTED)]
        print(f"{level}: outside {sum(outside.values())} of {len(outside)} held, inside "
              f"{sum(inside.values())}; {inside}")
        parts.append([level, "failed" if lost else "passed", "\n".join(lost)])
    return parts
