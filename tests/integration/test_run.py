"""`bawn run`: streams, directory, environment, exit codes, what it says, what it leaves."""
import os
import shutil
import subprocess
import tempfile

from support.box import bawn_lines, has_word
from support.marks import check, equal


def test_job_sees_the_workspace_at_its_real_path(box):
    repo = box.repo()
    run = box.run("sh", "-c", "pwd; cat a.txt", cwd=repo).expect(0)
    equal(run.out, f"{repo}\none\ntwo\nthree\n", "output")


def test_job_starts_in_the_directory_of_the_caller(box):
    repo = box.repo()
    run = box.run("pwd", cwd=f"{repo}/src").expect(0)
    equal(run.out, f"{repo}/src\n", "directory")


def test_streams_are_the_jobs_own(box):
    repo = box.repo()
    run = box.run("sh", "-c", "cat; echo err >&2", options=("--quiet",), cwd=repo, stdin=b"in\0\n")
    run.expect(0)
    equal(run.out_bytes, b"in\0\n", "stdout")
    equal(run.err_bytes, b"err\n", "stderr")


def test_no_stdin_is_dev_null(box):
    """A-25, first half."""
    repo = box.repo()
    run = box.command("sh", "-c", '"$0" run --ephemeral -- sh -c "wc -c; readlink /proc/self/fd/0" '
                      "<&-", box.bawn_path, cwd=repo).expect(0)
    equal(run.out.split(), ["0", "/dev/null"], "bytes read and what stdin is")


def test_change_stays_inside_until_it_is_let_out(box):
    repo = box.repo()
    before = box.git("status", "--porcelain", "--ignored", cwd=repo)
    box.shell("echo four >>a.txt; echo new >n.txt; rm src/b.c; mkdir d; ln -s a.txt d/l",
              cwd=repo).expect(0)
    equal(box.git("status", "--porcelain", "--ignored", cwd=repo), before, "status outside")
    equal(box.read("repo/a.txt"), "one\ntwo\nthree\n", "a.txt outside")
    equal(box.names(repo), ["a.txt", "d/l", "n.txt", "src/b.c"], "changed paths")


def test_exit_code_is_the_jobs_own(box):
    repo = box.repo()
    for code in (0, 1, 7, 123, 255):
        box.run("sh", "-c", f"exit {code}", options=("--ephemeral",), cwd=repo).expect(code)


def test_job_ended_by_a_signal_is_128_plus_n(box):
    repo = box.repo()
    for name, number in (("TERM", 15), ("SEGV", 11), ("KILL", 9)):
        run, receipt = box.receipt("sh", "-c", f"kill -{name} $$", options=("--ephemeral",),
                                   cwd=repo)
        run.expect(128 + number)
        equal(receipt["outcome"]["kind"], "signaled", f"outcome of SIG{name}")
        equal(receipt["outcome"]["signal"], number, f"signal of SIG{name}")


def test_time_limit_is_124_and_says_so(box):
    repo = box.repo()
    run, receipt = box.receipt("sleep", "1000", options=("--ephemeral", "--timeout", "1s"),
                               cwd=repo, seconds=20)
    run.expect(124)
    check(0.9 < run.seconds < 8, f"took {run.seconds:.1f} s")
    equal(receipt["outcome"]["killed_by"], "timeout", "killed_by")
    check(any("time" in line for line in bawn_lines(run.err)), run.told())


def test_idle_limit_ends_a_silent_job_and_not_a_talking_one(box):
    """A-25, second half."""
    repo = box.repo()
    run, receipt = box.receipt("sleep", "1000", cwd=repo, seconds=20,
                               options=("--ephemeral", "--idle-timeout", "1s"))
    run.expect(124)
    equal(receipt["outcome"]["killed_by"], "idle_timeout", "killed_by")
    box.run("sh", "-c", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.4; done", cwd=repo,
            options=("--ephemeral", "--idle-timeout", "1s")).expect(0)


def test_missing_program_is_127_with_its_name(box):
    repo = box.repo()
    for name in ("no-such-program-here", "/usr/bin/no-such-program", "./no-such-program"):
        run = box.run(name, options=("--ephemeral",), cwd=repo).expect(127)
        check(any(name in line for line in bawn_lines(run.err)), run.told())


def test_not_executable_is_126_with_its_name(box):
    repo = box.repo(files={"data.txt": "x\n"})
    for name in ("./data.txt", "/usr"):
        run = box.run(name, options=("--ephemeral",), cwd=repo).expect(126)
        check(any(name in line for line in bawn_lines(run.err)), run.told())


def test_script_whose_interpreter_is_missing_says_that(box):
    repo = box.repo()
    box.write(f"{repo}/script", "#!/opt/none/bin/tool\n", mode=0o755)
    run = box.run("./script", options=("--ephemeral",), cwd=repo)
    check(run.code in (126, 127), run.told())
    check(any("/opt/none/bin/tool" in line for line in bawn_lines(run.err)), run.told())


def test_wrong_usage_is_125_with_place_and_suggestion(box):
    """RT-33: codes of our own come with a line of our own."""
    repo = box.repo()
    cases = ((("--ephemereal",), ("--ephemereal", "--ephemeral")),
             (("--level", "isolatd"), ("isolatd", "isolated")),
             (("--timeout", "10parsecs"), ("10parsecs",)),
             (("--memory", "12Q"), ("12Q",)),
             (("-w", "/no/such/dir"), ("/no/such/dir",)),
             (("--profile", "no-such-profile"), ("no-such-profile",)))
    for options, words in cases:
        run = box.run("true", options=options, cwd=repo).expect(125)
        lines = bawn_lines(run.err)
        check(lines and has_word(" ".join(run.err.splitlines()), *words), run.told())


def test_usage_error_of_other_commands_is_2(box):
    repo = box.repo()
    for argv in (("diff", "--statt"), ("publsh",), ("discard", "--older", "soon")):
        run = box.bawn(*argv, cwd=repo).expect(2)
        check(bawn_lines(run.err), run.told())


def test_options_after_the_command_are_the_jobs(box):
    repo = box.repo()
    run = box.bawn("run", "--ephemeral", "--", "echo", "--ephemereal", "-w", cwd=repo).expect(0)
    equal(run.out, "--ephemereal -w\n", "arguments")


def test_workspaces_below_temporary_directories_work(box):
    """Their paths are also those of private places inside."""
    for base in ("/tmp", "/var/tmp"):
        path = tempfile.mkdtemp(prefix="bawn-test-", dir=base)
        try:
            box.write(f"{path}/a", "a\n")
            run = box.run("sh", "-c", "cat a; pwd; echo x >/tmp/x", options=("--ephemeral",),
                          cwd=path).expect(0)
            equal(run.out, f"a\n{path}\n", f"output below {base}")
        finally:
            shutil.rmtree(path)


def test_refused_workspaces_are_named(box):
    for path in ("/", "/usr", box.home, os.path.dirname(box.home)):
        run = box.bawn("run", "-w", path, "--", "true", cwd="/").expect(125)
        check(any(path in line for line in bawn_lines(run.err)), run.told())


def test_state_directory_inside_a_work_tree_is_refused(box):
    repo = box.repo()
    run = box.run("true", cwd=repo, env={"BAWN_STATE_DIR": f"{repo}/state"}).expect(125)
    check(not box.exists("repo/state/sb"), "made a sandbox there")
    check(bawn_lines(run.err), run.told())


def test_state_directory_open_to_others_is_refused_not_repaired(box):
    repo = box.repo()
    os.makedirs(box.state)
    os.chmod(box.state, 0o755)
    box.run("true", cwd=repo).expect(125)
    equal(os.stat(box.state).st_mode & 0o777, 0o755, "its mode")


def test_ephemeral_leaves_nothing(box):
    repo = box.repo()
    refs = box.git("for-each-ref", cwd=repo)
    entries = sorted(os.listdir(f"{repo}/.git"))
    box.run("sh", "-c", "echo x >a.txt; echo y >new", options=("--ephemeral",), cwd=repo).expect(0)
    equal(box.git("for-each-ref", cwd=repo), refs, "refs")
    equal(sorted(os.listdir(f"{repo}/.git")), entries, "entries of .git")
    equal(box.kept(repo), [], "sandboxes")
    equal(sandbox_layers(box), [], "layers")


def test_job_without_changes_keeps_no_workspace(box):
    repo = box.repo()
    box.run("true", cwd=repo).expect(0)
    equal(sandbox_layers(box), [], "layers")
    equal(box.git("for-each-ref", "refs/bawn", cwd=repo), "", "pin refs")


def test_receipt_states_what_was_obtained(box):
    repo = box.repo()
    _, receipt = box.receipt("true", options=("--ephemeral",), cwd=repo)
    for name in ("receipt_version", "sandbox_id", "job_id", "command", "started_at", "ended_at",
                 "sandbox", "sandbox_downgrade_reason", "outcome", "containment", "limits",
                 "usage", "workspace", "direct_writes", "output", "policy", "remaining"):
        check(name in receipt, f"the receipt lacks {name}: {sorted(receipt)}")
    equal(receipt["remaining"], [], "remaining")
    layers = receipt["containment"]["layers"]
    check(len(layers) >= 5, f"layers: {layers}")
    for layer in layers:
        equal(layer["state"], "held", f"state of {layer['name']}")
        check(layer["verified_by"], f"{layer['name']} names no proof")


def test_level_above_what_is_possible_never_runs(box):
    repo = box.repo()
    run = box.run("touch", "ran", options=("--level", "guest"), cwd=repo).expect(125)
    check(has_word(run.err, "guest"), run.told())
    equal(sandbox_layers(box), [], "layers")


def test_bawn_inside_a_sandbox_says_so(box):
    """A-04: no switch that a job can reach."""
    repo = box.repo()
    tool = box.write(f"{repo}/bawn", open(box.bawn_path, "rb").read(), mode=0o755)
    run = box.run(tool, "run", "--", "true", options=("--ephemeral",), cwd=repo)
    check(run.code != 0 and "sb_" in run.err, run.told())


def test_environment_holds_the_id_and_no_secret(box):
    repo = box.repo()
    secrets = {"AWS_SECRET_ACCESS_KEY": "a", "GITHUB_TOKEN": "b", "LD_PRELOAD": "/tmp/x.so",
               "BASH_ENV": "/tmp/x", "SSH_AUTH_SOCK": "/tmp/x", "PYTHONSTARTUP": "/tmp/x",
               "NODE_OPTIONS": "--require=/tmp/x", "UNKNOWN_NAME": "c"}
    run = box.run("env", options=("--ephemeral",), cwd=repo, env=secrets).expect(0)
    names = {line.split("=")[0] for line in run.out.splitlines()}
    equal(names & set(secrets), set(), "passed on")
    check("BAWN_SANDBOX=sb_" in run.out, run.told())


def test_environment_by_option(box):
    repo = box.repo()
    run = box.run("sh", "-c", 'echo "$A $B"', options=("--ephemeral", "--env", "A=1",
                                                       "--pass-env", "B"),
                  cwd=repo, env={"B": "2"}).expect(0)
    equal(run.out, "1 2\n", "variables")
    box.run("true", options=("--ephemeral", "--env", "LD_PRELOAD=/x"), cwd=repo).expect(125)
    box.run("true", options=("--ephemeral", "--pass-env", "GITHUB_TOKEN"), cwd=repo,
            env={"GITHUB_TOKEN": "x"}).expect(125)


def test_status_fd_gets_the_outcome(box):
    repo = box.repo()
    read, write = os.pipe()
    process = subprocess.Popen([box.bawn_path, "run", "--ephemeral", "--status-fd", str(write),
                                "--", "sh", "-c", "exit 3"], cwd=repo, pass_fds=(write,))
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    equal(process.wait(), 3, "exit code")
    check('"exited"' in text and "3" in text, text)


def sandbox_layers(box):
    """Kept layers below the state directory."""
    found = []
    for base, names, _ in os.walk(f"{box.state}/sb"):
        found += [os.path.join(base, name) for name in names if name == "upper"]
    return found
