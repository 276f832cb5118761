"""The shipped programs themselves: static where the hot path is, honest about versions and help."""
import os
import re

from support.marks import check, equal, release_only

STATIC = ("bawn", "bawn-init", "bawn-keeper", "bawn-policy")
DYNAMIC_LIBRARIES = {
    # program: libraries it may map (promise of SPECIFICATION.md); anything else fails.
    "bawn-worker": ("libgit2",),
}


@release_only
def test_hot_path_programs_are_static(box):
    for name in STATIC:
        out = box.command("readelf", "-lWd", f"{box.bin}/{name}").expect(0).out
        check("INTERP" not in out, f"{name} asks for a loader")
        check("NEEDED" not in out, f"{name} needs a shared object")


@release_only
def test_no_shared_object_is_mapped_while_a_job_runs(box):
    repo = box.repo()
    process = box.start(box.bawn_path, "run", "--ephemeral", "--", "sleep", "5", cwd=repo)
    try:
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as file:
            mapped = re.findall(r"/\S+\.so\S*", file.read())
        equal(mapped, [], "shared objects of bawn")
    finally:
        process.terminate()
        process.wait()


@release_only
def test_slow_libraries_stay_in_their_programs(box):
    for name in os.listdir(box.bin):
        if not name.startswith("bawn"):
            continue
        out = box.command("readelf", "-dW", f"{box.bin}/{name}").expect(0).out
        for library in ("libgit2", "libyaml-cpp"):
            allowed = library in DYNAMIC_LIBRARIES.get(name, ())
            check(allowed or library not in out, f"{name} links {library}")


def test_version_and_help_everywhere(box):
    run = box.bawn("--version").expect(0)
    check(re.match(r"bawn \d+\.\d+", run.out), run.told())
    check("run" in box.bawn("--help").expect(0).out, "help without commands")
    for command in ("run", "diff", "publish", "apply", "discard", "list", "show", "logs", "why",
                    "plan", "doctor"):
        out = box.bawn(command, "--help").expect(0).out
        check(command in out, f"help of {command}: {out[:200]}")


def test_doctor_answers_with_the_status_object(box):
    status = box.json("doctor")
    for name in ("available", "mechanism", "helper_path", "disabled", "disabled_by", "active",
                 "level_proven", "layers", "missing", "remedy", "probed_at"):
        check(name in status, f"the status object lacks {name}: {sorted(status)}")


def test_plan_says_what_run_would_do_and_does_nothing(box):
    repo = box.repo()
    run = box.bawn("plan", "--", "touch", "ran", cwd=repo).expect(0)
    check("touch" in run.out + run.err, run.told())
    check(not os.path.exists(f"{box.state}/sb") or not os.listdir(f"{box.state}/sb"),
          "plan made a sandbox")


def test_why_names_the_rules_of_the_last_run(box):
    repo = box.repo()
    box.shell("echo x >x", cwd=repo, env={"GITHUB_TOKEN": "x"}).expect(0)
    run = box.bawn("why", cwd=repo).expect(0)
    check("landlock" in (run.out + run.err).lower(), run.told())
