"""Machines that lack something, or have something that most lack: named, never worked around.

What this machine cannot be is skipped with its reason, and stands in tests/CANNOT_RUN.md.
"""
import os
from pathlib import Path

from support.box import has_word
from support.marks import Skip, as_root, as_user, check, equal


def text_of(path):
    try:
        return Path(path).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def without_namespaces(box, *argv):
    """Runs a command where the kernel gives no further user namespace."""
    script = ("echo 0 >/proc/sys/user/max_user_namespaces && "
              'exec setpriv --ambient-caps -all --inh-caps -all -- "$@"')
    return box.command("unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c", script,
                       "sh", *argv, cwd=f"{box.work}/repo")


@as_user
def test_no_user_namespaces_is_a_refusal_with_a_remedy(box):
    """O-15: never weaker in silence."""
    box.repo()
    run = without_namespaces(box, box.bawn_path, "run", "--ephemeral", "--", "touch", "ran")
    equal(run.code, 125, run.told())
    check(has_word(run.err, "namespace"), run.told())
    check("apparmor=0" not in run.err, "advises to switch a protection off")


@as_user
def test_doctor_says_what_is_missing(box):
    box.repo()
    run = without_namespaces(box, box.bawn_path, "doctor")
    equal(run.code, 1, run.told())
    check(has_word(run.out + run.err, "user", "namespace"), run.told())


@as_root
def test_a_proc_that_is_masked_outside_is_noticed(box):
    """RT-36, O-17: the kernel refuses a new /proc where the outer one is covered in part."""
    repo = box.repo()
    script = 'mount -t tmpfs none /proc/irq && exec "$@"'
    run = box.command("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh",
                      box.bawn_path, "run", "--ephemeral", "--", "true", cwd=repo)
    equal(run.code, 125, run.told())
    check(has_word(run.err, "proc"), run.told())


def test_floor_of_the_environment_only_refuses(box):
    repo = box.repo()
    box.run("true", options=("--ephemeral",), cwd=repo, env={"BAWN_LEVEL": "isolated"}).expect(0)
    box.run("true", options=("--ephemeral",), cwd=repo, env={"BAWN_LEVEL": "guest"}).expect(125)
    box.run("true", options=("--ephemeral", "--level", "none"), cwd=repo,
            env={"BAWN_LEVEL": "isolated"}).expect(125)


def test_apparmor_restriction_is_diagnosed(box):
    """O-16: a program without a profile gets a namespace without rights in it."""
    if text_of("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") != "1":
        raise Skip("AppArmor does not restrict user namespaces here")
    run = box.bawn("doctor")
    check(has_word(run.out + run.err, "AppArmor", "profile"), run.told())


@as_root
def test_pure_cgroup_v2_holds_memory_for_the_whole_tree(box):
    if "memory" not in text_of("/sys/fs/cgroup/cgroup.controllers"):
        raise Skip("no pure cgroup v2 here: the controllers are v1's")
    repo = box.repo()
    run, receipt = box.receipt(
        "sh", "-c", "head -c 200M /dev/zero | tail -c 200M >/dev/null", cwd=repo,
        options=("--ephemeral", "--level", "bounded", "--memory", "64MiB"))
    equal(run.code, 137, run.told())
    equal(receipt["outcome"]["killed_by"], "memory", "killed_by")


@as_user
def test_systemd_delegation_gives_bounded_to_a_user(box):
    if not os.path.isdir("/run/systemd/system"):
        raise Skip("systemd does not manage this machine")
    repo = box.repo()
    box.command("systemd-run", "--user", "--scope", "-p", "Delegate=yes", box.bawn_path, "run",
                "--ephemeral", "--level", "bounded", "--", "true", cwd=repo).expect(0)


def test_guest_level_starts_a_kernel_of_its_own(box):
    if not os.access("/dev/kvm", os.R_OK | os.W_OK) or not has_virtual_machine_support():
        raise Skip("no KVM that boots a stock guest")
    repo = box.repo()
    box.run("true", options=("--ephemeral", "--level", "guest"), cwd=repo).expect(0)


def has_virtual_machine_support():
    flags = text_of("/proc/cpuinfo")
    return " vmx" in flags or " svm" in flags


def test_kubernetes_pod_is_told_apart(box):
    if "KUBERNETES_SERVICE_HOST" not in os.environ:
        raise Skip("not in a pod")
    run = box.bawn("doctor", "--json")
    check(run.code in (0, 1), run.told())
