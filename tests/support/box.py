"""What an integration test gets: a bawn to run, and private directories to run it in."""
import json
import os
import re
import signal
import subprocess
import time

from .marks import Failure, check

DEFAULT_SECONDS = 60


class Run:
    """How a command ended: code (128+n for a signal of the process itself is -n), out, err."""

    def __init__(self, argv, code, out, err, seconds):
        self.argv, self.code, self.seconds = argv, code, seconds
        self.out_bytes, self.err_bytes = out, err

    @property
    def out(self):
        return self.out_bytes.decode(errors="replace")

    @property
    def err(self):
        return self.err_bytes.decode(errors="replace")

    def told(self):
        argv = " ".join(self.argv)
        return f"$ {argv}\n  code {self.code}\n  out: {self.out[:2000]}\n  err: {self.err[:2000]}"

    def expect(self, code=0):
        """This run, if it ended so; a failure that shows all of it otherwise."""
        check(self.code == code, f"expected exit code {code}\n{self.told()}")
        return self


class Box:
    """Paths of one test; see support/isolate.py for the layout."""

    def __init__(self, directory, build):
        self.directory = directory
        self.work = f"{directory}/work"
        self.home = f"{directory}/home"
        self.state = f"{directory}/state"
        self.tmp = f"{directory}/tmp"
        self.build = build
        self.bin = f"{build}/bin"
        self.bawn_path = f"{self.bin}/bawn"
        self.payloads = f"{build}/payloads"
        self.is_root = os.getuid() == 0

    # -- commands ------------------------------------------------------------------------------

    def command(self, *argv, cwd=None, env=None, stdin=b"", seconds=DEFAULT_SECONDS, **more):
        """Runs any program; `env` is added to the test's environment (None removes a name)."""
        start = time.monotonic()
        process = self.start(*argv, cwd=cwd, env=env, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        try:
            out, err = process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired as late:
            process.kill()
            out, err = process.communicate()
            raise Failure(f"no end after {seconds} s\n"
                          f"{Run(argv, None, out, err, seconds).told()}") from late
        return Run(argv, process.returncode, out, err, time.monotonic() - start)

    def start(self, *argv, cwd=None, env=None, **more):
        """The same without waiting: a subprocess.Popen."""
        merged = dict(os.environ)
        for name, value in (env or {}).items():
            if value is None:
                merged.pop(name, None)
            else:
                merged[name] = value
        # pylint: disable=consider-using-with
        return subprocess.Popen(argv, cwd=cwd or self.work, env=merged, **more)

    def bawn(self, *argv, **more):
        return self.command(self.bawn_path, *argv, **more)

    def run(self, *argv, options=(), **more):
        """`bawn run OPTIONS -- ARGV`."""
        return self.bawn("run", *options, "--", *argv, **more)

    def shell(self, script, **more):
        """`bawn run -- sh -c SCRIPT`."""
        return self.run("sh", "-c", script, **more)

    def git(self, *argv, cwd=None, **more):
        """The host's git; must succeed. Its output without the last newline."""
        return self.command("git", *argv, cwd=cwd, **more).expect(0).out.rstrip("\n")

    # -- trees ---------------------------------------------------------------------------------

    def write(self, name, text, mode=None):
        """A file below work/ (or at an absolute path), with its directories."""
        path = os.path.join(self.work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        if mode is not None:
            os.chmod(path, mode)
        return path

    def read(self, name):
        with open(os.path.join(self.work, name), "rb") as file:
            return file.read().decode(errors="surrogateescape")

    def exists(self, name):
        return os.path.lexists(os.path.join(self.work, name))

    def repo(self, name="repo", files=None, commit=True):
        """A git repository work/NAME with an identity of its own; its path."""
        path = f"{self.work}/{name}"
        os.makedirs(path, exist_ok=True)
        self.git("init", "-q", "-b", "main", path)
        self.git("config", "user.name", "Test User", cwd=path)
        self.git("config", "user.email", "test@example.com", cwd=path)
        for file, text in (files or {"a.txt": "one\ntwo\nthree\n", "src/b.c": "int b;\n"}).items():
            self.write(f"{path}/{file}", text)
        if commit:
            self.commit(path)
        return path

    def commit(self, path, message="base"):
        self.git("add", "-A", cwd=path)
        self.git("commit", "-q", "-m", message, cwd=path)
        self.settle()

    def settle(self):
        """Lets the coarse clock pass: what was written just before a run counts as written during
        it (RT-09), which is right, and not what most tests are about."""
        time.sleep(0.02)

    # -- what bawn knows -----------------------------------------------------------------------

    def json(self, *argv, cwd=None):
        """The JSON that a listing or question of bawn prints."""
        run = self.bawn(*argv, "--json", cwd=cwd)
        check(run.code in (0, 1), f"no answer\n{run.told()}")
        try:
            return json.loads(run.out)
        except ValueError as error:
            raise Failure(f"not JSON: {error}\n{run.told()}") from error

    def kept(self, cwd=None):
        """Names of the sandboxes of this workspace that wait for review."""
        return [s["name"] for s in self.json("list", cwd=cwd)["sandboxes"] if s["kept"]]

    def names(self, cwd=None, *more):
        """The changed paths, as `bawn diff --names -z` lists them."""
        out = self.bawn("diff", "--names", "-z", *more, cwd=cwd).expect(0).out_bytes
        return sorted(name.decode(errors="surrogateescape") for name in out.split(b"\0") if name)

    def digest(self, cwd=None):
        return self.bawn("diff", "--digest", cwd=cwd).expect(0).out.strip()

    def receipt(self, *argv, options=(), cwd=None, **more):
        """Runs a job and returns (Run, its receipt as a dictionary)."""
        path = f"{self.tmp}/receipt.json"
        run = self.run(*argv, options=("--receipt", path, *options), cwd=cwd, **more)
        try:
            with open(path, "rb") as file:
                receipt = json.load(file)
            os.unlink(path)
        except (OSError, ValueError) as error:
            raise Failure(f"no receipt: {error}\n{run.told()}") from error
        return run, receipt


def bawn_lines(text):
    """The lines that bawn itself says on stderr."""
    return [line for line in text.splitlines() if line.startswith("bawn: ")]


def wait_until(condition, what, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < deadline, f"not within {seconds} s: {what}")
        time.sleep(0.005)


def has_word(text, *words):
    """True when every word stands in the text, whatever its case."""
    return all(re.search(re.escape(word), text, re.IGNORECASE) for word in words)


def stop(process):
    """SIGKILL and reap, whatever state it is in."""
    try:
        process.send_signal(signal.SIGKILL)
    except OSError:
        pass
    process.wait()
