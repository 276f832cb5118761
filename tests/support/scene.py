"""What an attack may aim at on the host, made when a row of the attack table asks for it.

A row's arguments are text with {names}; `Scene.fill` makes each named thing once and puts its
address in. `close` takes everything away and says what of it was harmed.
"""
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading

from .box import wait_until
from .marks import check

TOKEN = "token-3f9d1c"

# Where programs keep what must never be readable inside (RT-03): 40 places.
CREDENTIALS = """
.ssh/id_rsa .ssh/id_ed25519 .ssh/config .aws/credentials .aws/config .config/gcloud/credentials.db
.config/gcloud/application_default_credentials.json .azure/accessTokens.json .kube/config
.docker/config.json .config/containers/auth.json .netrc .git-credentials .config/git/credentials
.npmrc .yarnrc.yml .pypirc .config/pip/pip.conf .cargo/credentials.toml .cargo/credentials
.m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .config/go/env .gem/credentials
.composer/auth.json .config/gh/hosts.yml .config/hub .gnupg/private-keys-v1.d/key.key .pgpass
.my.cnf .config/rclone/rclone.conf .vault-token .terraform.d/credentials.tfrc.json .bash_history
.config/op/config .local/share/keyrings/login.keyring .mozilla/firefox/x.default/logins.json
.config/chromium/Default/Cookies .claude/.credentials.json
""".split()

WITNESS = "import signal, time\nwhile True: time.sleep(1000)  # bawn-witness"


def readable(path):
    try:
        with open(path, "rb") as file:
            return bool(file.read(1))
    except OSError:
        return False


class Scene:
    """`inside`: the attack runs in a sandbox, so `{pid1}` is its pid 1; else, and where it has no
    pid namespace, it is the witness."""

    def __init__(self, box, inside, own_pids=True):
        self.box, self.inside, self.own_pids = box, inside, own_pids
        self.made, self.closers, self.pass_fds = {}, [], []
        self.expect_harm = False  # walls are left out on purpose: what was harmed is no failure
        self.outside = f"{box.work}/outside"
        os.makedirs(self.outside, exist_ok=True)

    def fill(self, text):
        """The words of `text`, each {name} made; a name without a maker stays (support/terminal.py
        knows {tty})."""

        def value(match):
            name = match.group(1)
            maker = getattr(self, f"make_{name}", None)
            if maker is None:
                return match.group(0)
            if name not in self.made:
                self.made[name] = str(maker())
            return self.made[name]

        return re.sub(r"\{(\w+)\}", value, text).split()

    def close(self):
        for closer in reversed(self.closers):
            closer()

    def unharmed(self, condition, message):
        check(condition or self.expect_harm, message)

    # -- files ---------------------------------------------------------------------------------

    def file(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(TOKEN + "\n")
        self.closers.append(lambda: os.path.exists(path) and os.unlink(path))
        return path

    def make_token(self):
        return TOKEN

    def make_canary(self):
        path = self.file(f"{self.outside}/canary")
        self.closers.append(lambda: self.unharmed(self.box.read(path) == TOKEN + "\n",
                                                   "canary changed"))
        return path

    def make_shown(self):
        """In the work tree: the sandbox sees it, too."""
        return self.file(f"{self.box.work}/repo/shown")

    def make_new(self):
        return f"{self.outside}/new"

    def make_temporary(self):
        return self.file(f"/tmp/bawn-test-canary.{os.getpid()}")

    def make_shared(self):
        return self.file(f"/dev/shm/bawn-test-canary.{os.getpid()}")

    def make_state(self):
        os.makedirs(self.box.state, mode=0o700, exist_ok=True)
        return self.file(f"{self.box.state}/canary")

    def make_home(self):
        return self.file(f"{self.box.home}/Documents/letter.txt")

    def make_credentials(self):
        """All forty; `fill` splits them into arguments."""
        return " ".join(self.file(f"{self.box.home}/{path}") for path in CREDENTIALS)

    # -- descriptors ---------------------------------------------------------------------------

    def make_dirfd(self):
        fd = os.open(self.outside, os.O_PATH | os.O_DIRECTORY)
        self.pass_fds.append(fd)
        self.closers.append(lambda: os.close(fd))
        return fd

    # -- processes -----------------------------------------------------------------------------

    def make_witness(self):
        # pylint: disable=consider-using-with
        process = subprocess.Popen([sys.executable, "-c", WITNESS], start_new_session=True,
                                   stdin=subprocess.DEVNULL)
        # Popen returns a moment before the kernel takes the new program for one that may be looked
        # into by its own user, and a control that comes first would be refused.
        wait_until(lambda: readable(f"/proc/{process.pid}/environ"), "the witness is up")

        def end():
            alive = process.poll() is None
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
            self.unharmed(alive or not self.inside, "the witness on the host was ended")

        self.closers.append(end)
        return process.pid

    def make_pid1(self):
        return 1 if self.inside and self.own_pids else self.fill("{witness}")[0]

    # -- listeners -----------------------------------------------------------------------------

    def listen(self, sock, address):
        sock.bind(address)
        if sock.type & socket.SOCK_STREAM:
            sock.listen(8)

        def close():
            # shutdown, not close alone: it wakes the thread that waits in it.
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()

        self.closers.append(close)
        return sock

    def make_port(self):
        return self.listen(socket.socket(), ("127.0.0.1", 0)).getsockname()[1]

    def make_port6(self):
        return self.listen(socket.socket(socket.AF_INET6), ("::1", 0)).getsockname()[1]

    def make_udp(self):
        sock = self.listen(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ("127.0.0.1", 0))
        stop = threading.Event()

        def echo():
            while not stop.is_set():
                if select.select([sock], [], [], 0.05)[0]:
                    data, sender = sock.recvfrom(100)
                    sock.sendto(data, sender)

        thread = threading.Thread(target=echo)
        thread.start()
        self.closers.append(lambda: (stop.set(), thread.join()))
        return sock.getsockname()[1]

    def unix(self, directory):
        path = f"{directory}/listener.sock"
        # A long path does not fit into an address; a relative one does.
        here = os.getcwd()
        os.chdir(directory)
        try:
            self.listen(socket.socket(socket.AF_UNIX), "listener.sock")
        finally:
            os.chdir(here)
        self.closers.append(lambda: os.unlink(path))
        return path

    def make_socket(self):
        self.unix(f"{self.box.work}/repo")
        return "listener.sock"

    def make_runtime_socket(self):
        return self.unix(os.environ["XDG_RUNTIME_DIR"])

    def make_abstract(self):
        name = f"bawn-test-{os.getpid()}-{self.inside}"
        self.listen(socket.socket(socket.AF_UNIX), "\0" + name)
        return name

    def make_fifo(self):
        path = f"{self.box.work}/repo/fifo"
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.closers.append(lambda: (os.close(reader), os.unlink(path)))
        return "fifo"

    def make_shm(self):
        out = self.box.command("ipcmk", "-M", "64").expect(0).out
        number = out.split()[-1]
        self.closers.append(lambda: self.box.command("ipcrm", "-m", number).expect(0))
        return number

    # -- mount points of the control's own namespace ------------------------------------------

    def make_readonly(self):
        return "/usr" if self.inside else self.fill("{mountpoint}")[0]

    def make_cover(self):
        return "/tmp" if self.inside else self.fill("{mountpoint}")[0]

    def make_mountpoint(self):
        path = f"{self.box.work}/mountpoint"
        os.makedirs(path, exist_ok=True)
        return path
