"""What the rows of the bench share: trees, interleaved timing, and the row itself."""
import os
import random
import shutil
import statistics
import subprocess
import sys
import time

ROUNDS = 200  # of the latency rows; the slow ones take fewer, and say how many


class Row:
    """One line of the table. `met` is None where nothing is promised."""

    def __init__(self, what, target, measured, met):
        self.what, self.target, self.measured, self.met = what, target, measured, met

    def markdown(self):
        verdict = {True: "met", False: "**missed**", None: "-"}[self.met]
        return f"| {self.what} | {self.target} | {self.measured} | {verdict} |"


class Stage:
    """A scratch directory on a disk, a home, a state directory; all removed by `close`."""

    def __init__(self, directory, build, rounds):
        self.directory, self.build, self.rounds = directory, build, rounds
        self.bawn = f"{build}/bin/bawn"
        self.trees = {}
        for name in ("home", "tmp"):
            os.makedirs(f"{directory}/{name}", exist_ok=True)
        self.environment = {
            "PATH": f"{build}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": f"{directory}/home",
            "BAWN_STATE_DIR": f"{directory}/state", "TMPDIR": f"{directory}/tmp",
            "LANG": "C.UTF-8", "USER": os.environ.get("USER", "user"), "TERM": "dumb",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def close(self):
        subprocess.run(["chmod", "-R", "u+rwX", self.directory], check=False,
                       stderr=subprocess.DEVNULL)
        shutil.rmtree(self.directory, ignore_errors=True)

    # -- commands ------------------------------------------------------------------------------

    def run(self, *argv, cwd=None, check=True, **more):
        more.setdefault("stdout", subprocess.DEVNULL)
        more.setdefault("stderr", subprocess.DEVNULL)
        return subprocess.run(argv, cwd=cwd or self.directory, check=check, env=self.environment,
                              stdin=subprocess.DEVNULL, **more)

    def bwrap(self, repo, *argv, writable=False):
        """The command line of bubblewrap that is nearest to ours."""
        bind = "--bind" if writable else "--ro-bind"
        return ["bwrap", "--unshare-all", "--unshare-user", "--ro-bind", "/usr", "/usr",
                "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink",
                "usr/lib64", "/lib64", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
                bind, repo, repo, "--chdir", repo, *argv]

    def samples(self, commands, cwd, rounds=None):
        """{name: sorted milliseconds} of {name: argv}, interleaved, after a warm-up. A command that
        fails is no measurement: it stops the bench with its own words."""
        for argv in commands.values():
            self.run(*argv, cwd=cwd, stderr=None)
        path = f"{self.directory}/commands"
        with open(path, "w", encoding="utf-8") as file:
            for name, argv in commands.items():
                file.write("\t".join([name, *argv]) + "\n")
        out = self.run(f"{self.build}/bench/spawn_timer", "latency", str(rounds or self.rounds),
                       path, cwd=cwd, stdout=subprocess.PIPE, stderr=None, text=True).stdout
        found = {name: [] for name in commands}
        for line in out.splitlines():
            name, nanoseconds, status = line.split("\t")
            if status != "0":
                raise RuntimeError(f"bench: {name} ended with status {status}: {commands[name]}")
            found[name].append(int(nanoseconds) / 1e6)
        return {name: sorted(values) for name, values in found.items()}

    def samples_once(self, argv, cwd):
        """[milliseconds] of one run, for commands that need something made before each."""
        start = time.monotonic()
        self.run(*argv, cwd=cwd)
        return [(time.monotonic() - start) * 1000]

    def throughput(self, commands, cwd, at_once, seconds):
        """{name: runs per second} of {name: argv}."""
        path = f"{self.directory}/commands"
        with open(path, "w", encoding="utf-8") as file:
            for name, argv in commands.items():
                file.write("\t".join([name, *argv]) + "\n")
        out = self.run(f"{self.build}/bench/spawn_timer", "throughput", str(at_once), str(seconds),
                       path, cwd=cwd, stdout=subprocess.PIPE, text=True).stdout
        found = {}
        for line in out.splitlines():
            name, runs, nanoseconds, failures = line.split("\t")
            if failures != "0":
                raise RuntimeError(f"bench: {failures} of {runs} runs of {name} failed")
            found[name] = int(runs) / (int(nanoseconds) / 1e9)
        return found

    def discard_all(self):
        self.run(self.bawn, "discard", "--all", "--yes", check=False)

    # -- trees ---------------------------------------------------------------------------------

    def repo(self, files):
        """A committed repository of that many source-like files; made once."""
        if files not in self.trees:
            path = f"{self.directory}/repo-{files}"
            make_tree(path, files)
            for argv in (("init", "-q", "-b", "main"), ("config", "user.name", "Bench"),
                         ("config", "user.email", "bench@example.com"), ("add", "-A"),
                         ("commit", "-q", "-m", "base")):
                self.run("git", *argv, cwd=path)
            # Entries whose time equals the index's own are read again by every command.
            self.run("git", "update-index", "-q", "--really-refresh", cwd=path)
            self.trees[files] = path
        return self.trees[files]


def make_tree(path, files):
    """Ten files a directory, 0.2 to 12 KB, mean about 4 KB; the same bytes on every machine."""
    chance = random.Random(1)
    blob = bytes(chance.choice(b"abcdefghij klmnopqrst\n") for _ in range(65536))
    for number in range(files):
        folder = f"{path}/m{number // 1000:03d}/d{number // 100 % 10}/s{number // 10 % 10}"
        os.makedirs(folder, exist_ok=True)
        start, size = chance.randrange(50000), min(12000, int(chance.expovariate(1 / 4000)) + 200)
        with open(f"{folder}/f{number}.c", "wb") as file:
            file.write(str(number).encode() + blob[start:start + size])


def median(values):
    return statistics.median(values)


def against(ours, theirs):
    """"7.1 ms, bwrap 8.0 ms, ratio 0.89" and the ratio."""
    ratio = median(ours) / median(theirs)
    spread = f"p10-p90 {ours[len(ours) // 10]:.1f}-{ours[len(ours) * 9 // 10]:.1f}"
    return f"{median(ours):.2f} ms ({spread}), bwrap {median(theirs):.2f} ms: {ratio:.2f}", ratio


def say(text):
    print(text, file=sys.stderr, flush=True)
