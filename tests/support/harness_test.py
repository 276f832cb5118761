#!/usr/bin/env python3
"""The runner sees what it is there to see: failures, hangs, skips and every kind of leak."""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from support import isolate, leaks, processes  # noqa: E402
from support.cannot_run import CannotRun  # noqa: E402
from support.marks import Skip, equal  # noqa: E402


def leave_process(_):
    subprocess.Popen(["setsid", "sleep", "1000"])  # pylint: disable=consider-using-with


def leave_orphan(_):
    subprocess.run(["sh", "-c", "(setsid sleep 1000 &) &"], check=True)


def leave_temporary(directory):
    Path(directory, "tmp", "x").write_text("left")


def leave_socket(directory):
    os.makedirs(f"{directory}/state/sb/x")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(f"{directory}/state/sb/x/s")


def leave_unreadable(directory):
    os.makedirs(f"{directory}/work/closed/inner")
    os.chmod(f"{directory}/work/closed", 0)


def skip(_):
    raise Skip("no such device")


class HarnessTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        processes.become_subreaper()
        cls.grace, leaks.GRACE_SECONDS = leaks.GRACE_SECONDS, 0.3

    def outcome(self, function, seconds=20):
        caller = isolate.Identity("self", os.getuid(), os.getgid(), "self", "/var/tmp")
        return isolate.run(caller, function, seconds)

    def assert_failed(self, function, *parts, seconds=20):
        outcome = self.outcome(function, seconds)
        self.assertEqual(outcome.verdict, "failed")
        for part in parts:
            self.assertIn(part, outcome.text)

    def test_a_test_that_holds_passes(self):
        self.assertEqual(self.outcome(lambda _: equal(1, 1, "one")).verdict, "passed")

    def test_a_check_that_does_not_hold_fails_with_what_it_saw(self):
        self.assert_failed(lambda _: equal(1, 2, "number"), "number: expected 2, saw 1")

    def test_an_exception_fails_with_its_trace(self):
        self.assert_failed(lambda _: {}["x"], "KeyError")

    def test_a_test_that_dies_fails(self):
        self.assert_failed(lambda _: os.kill(os.getpid(), signal.SIGKILL), "died")

    def test_a_test_that_hangs_fails_and_is_ended(self):
        self.assert_failed(lambda _: signal.pause(), "no end after 1 s", seconds=1)
        self.assertEqual(processes.descendants(), [])

    def test_a_skip_is_told_apart(self):
        outcome = self.outcome(skip)
        self.assertEqual((outcome.verdict, outcome.text), ("skipped", "no such device"))

    def test_a_left_process_is_found_and_ended(self):
        self.assert_failed(leave_process, "left behind", "sleep 1000")
        self.assert_failed(leave_orphan, "left behind", "sleep 1000")
        self.assertEqual(processes.descendants(), [])

    def test_a_left_temporary_entry_is_found(self):
        self.assert_failed(leave_temporary, "temporary entry", "/tmp/x")

    def test_a_left_socket_is_found(self):
        self.assert_failed(leave_socket, "socket", "/state/sb/x/s")

    def test_a_closed_directory_is_removed_with_the_rest(self):
        seen = []
        original = isolate.remove_directory

        def remove(directory):
            original(directory)
            seen.append(os.path.exists(directory))

        isolate.remove_directory = remove
        try:
            self.assertEqual(self.outcome(leave_unreadable).verdict, "passed")
        finally:
            isolate.remove_directory = original
        self.assertEqual(seen, [False])

    def test_nothing_of_the_caller_is_seen_inside(self):
        os.environ["BAWN_SECRET_OF_THE_CALLER"] = "1"
        self.assertEqual(
            self.outcome(lambda _: equal("BAWN_SECRET_OF_THE_CALLER" in os.environ, False, "env"))
            .verdict, "passed")


class CannotRunTest(unittest.TestCase):
    def test_lines_allow_skips_and_are_refused_when_the_test_ran(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("# text\n- `*/kvm/*`: no KVM here\n- `*/v2/*`: hybrid cgroups\n")
            file.flush()
            cannot_run = CannotRun(file.name)
        self.assertTrue(cannot_run.note("release/kvm/boots [root]", skipped=True))
        self.assertFalse(cannot_run.note("release/other/x [root]", skipped=True))
        self.assertTrue(cannot_run.note("release/v2/freeze [root]", skipped=False))
        self.assertEqual(cannot_run.wrong_lines(), ["*/v2/*"])


if __name__ == "__main__":
    unittest.main()
