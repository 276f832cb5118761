"""The shipped programs themselves: static where the hot path is, honest about versions and help."""
import os
import re

from support.marks import check, equal, release_only

STATIC = ("bawn", "bawn-init", "bawn-keeper", "bawn-policy", "bawn-worker")
# Large libraries, each in one program; found there by a symbol of theirs.
LIBRARIES = {"git_repository_open_ext": "bawn-worker", "YAML::": "bawn-policy"}
# Of libgit2's transports, and what they are linked with.
NETWORK = ("git_smart_subtransport_http", "libssh2_", "mbedtls_ssl_", "gss_", "getaddrinfo")


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
        symbols = box.command("nm", "-C", f"{box.bin}/{name}").expect(0).out
        for symbol, program in LIBRARIES.items():
            equal(symbol in symbols, name == program, f"{symbol} in {name}")


@release_only
def test_worker_has_no_network_code(box):
    symbols = box.command("nm", "-C", f"{box.bin}/bawn-worker").expect(0).out
    check("git_libgit2_init" in symbols, "no symbols to look at")
    for symbol in NETWORK:
        check(symbol not in symbols, f"bawn-worker holds {symbol}")


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
