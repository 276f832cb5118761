"""Runs a program on a terminal of its own, as a person's shell would."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from .box import Run
from .marks import Failure


def resize(fd, size):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))


def run(argv, cwd, env=None, seconds=60, answers=(), size=(24, 80)):
    """A Run whose `out` is everything that came out of the terminal. `answers`: pairs of a text to
    wait for and what to do then: bytes are typed, a (rows, columns) pair resizes. {tty} in `argv`
    becomes the terminal's path."""
    master, slave = pty.openpty()
    path = os.ttyname(slave)
    resize(master, size)
    answers = list(answers)

    def take_terminal():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    argv = [word.replace("{tty}", path) for word in argv]
    start = time.monotonic()
    # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
    process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave,
                               preexec_fn=take_terminal)
    os.close(slave)
    out = b""
    try:
        while True:
            if time.monotonic() - start > seconds:
                process.kill()
                process.wait()
                raise Failure(f"no end after {seconds} s: {argv}\n{out.decode(errors='replace')}")
            if select.select([master], [], [], 0.02)[0]:
                try:
                    chunk = os.read(master, 1 << 16)
                except OSError:
                    chunk = b""
                out += chunk
                if answers and answers[0][0] in out:
                    answer = answers.pop(0)[1]
                    if isinstance(answer, bytes):
                        os.write(master, answer)
                    else:
                        resize(master, answer)
                if not chunk and process.poll() is not None:
                    break
            elif process.poll() is not None:
                break
        code = process.wait()
    finally:
        os.close(master)
    return Run(argv, code, out, b"", time.monotonic() - start)
