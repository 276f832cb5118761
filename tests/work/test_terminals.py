"""Terminals and sockets: the suites of other people, whose every failure inside must be one that
stands here with its reason, and tmux."""
import os
import re

from support import terminal
from support.marks import Failure, accept, check, timeout
from support.real_work import job, needs, project

# CPython's own tests, from Debian's libpython3.11-testsuite.
SUITES = ("test_pty", "test_openpty", "test_ioctl", "test_fcntl", "test_socket", "test_asyncore",
          "test_select", "test_selectors", "test_epoll", "test_signal", "test_os", "test_posix",
          "test_mmap", "test_tempfile", "test_shutil", "test_pathlib", "test_subprocess")

# What may fail inside and not outside. Each is a promise or a fact of the kernel, no accident.
EXPECTED = {
    r"UDPLITE": "protocols of IP but TCP, UDP and ICMP are refused (src/contain/seccomp_table.h)",
    r"test_chown_without_permission|test_user\b|test_group\b":
        "an id that nobody has inside is EINVAL in a user namespace, not EPERM",
}


def failures(text):
    return set(re.findall(r"^(?:ERROR|FAIL): (.*)$", text, re.M))


def suite(box, repo, name):
    """(failures outside, failures inside). As root nothing runs outside: with root's rights these
    tests reach for devices and protocols that no job has."""
    if not os.path.exists(f"/usr/lib/python3.11/test/{name}.py"):
        raise Failure(f"{name} is missing: tools/install-packages --accept")
    argv = ("/usr/bin/python3", "-m", "test", "-v", name)
    outside = "" if box.is_root else box.command(*argv, cwd=repo, seconds=300)
    inside = box.run(*argv, options=("--ephemeral", "--quiet"), cwd=repo, seconds=300)
    check("== Tests result:" in inside.out, f"{name} did not come to its end\n{inside.told()}")
    return failures(outside and outside.out + outside.err), failures(inside.out + inside.err)


@accept
@timeout(1800)
def test_suites_of_cpython_fail_inside_only_as_expected(box):
    repo = box.repo()
    parts = []
    for name in SUITES:
        outside, inside = suite(box, repo, name)
        unexplained = sorted(test for test in inside - outside
                             if not any(re.search(pattern, test) for pattern in EXPECTED))
        parts.append([name, "failed" if unexplained else "passed", "\n".join(unexplained[:20])])
    return parts


PTY_AND_SOCKETS = """
import array, os, pty, select, signal, socket, subprocess, sys, termios, threading
pid, fd = pty.fork()
if pid == 0:
    os.execlp("sh", "sh", "-c", "tty; stty size; trap 'echo got INT; exit 3' INT; echo ready; "
              "while :; do sleep 0.05; done")
out = b""
while b"ready" not in out: out += os.read(fd, 4096)
os.write(fd, b"\\x03")
try:
    while True: out += os.read(fd, 4096)
except OSError: pass
assert b"/dev/pts/" in out and b"got INT" in out, out
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
r, w = os.pipe()
socket.send_fds(a, [b"x"], [w])
_, fds, _, _ = socket.recv_fds(b, 10, 1)
os.write(fds[0], b"through"); assert os.read(r, 10) == b"through"
for family, address in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_INET6, ("::1", 0)),
                        (socket.AF_UNIX, "s.sock"), (socket.AF_UNIX, "\\0own")):
    server = socket.socket(family); server.bind(address); server.listen()
    client = socket.socket(family); client.connect(server.getsockname())
    peer, _ = server.accept(); peer.sendall(b"y"); assert client.recv(1) == b"y"
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.bind(("127.0.0.1", 0))
udp.sendto(b"z", udp.getsockname()); assert udp.recv(1) == b"z"
assert sorted(name for _, name in socket.if_nameindex()) == ["lo"]
print("all held")
"""


def test_ptys_and_sockets_of_a_job(box):
    repo = project(box, {"check.py": PTY_AND_SOCKETS, ".gitignore": "*.sock\n"})
    run, _ = job(box, repo, "/usr/bin/python3 check.py; rm -f s.sock")
    check("all held" in run.out, run.told())


TMUX = """
    tmux -f /dev/null new-session -d -s work -x 100 -y 30 'sh'
    tmux send-keys -t work 'echo $((40+2)); stty size; tty' Enter
    tmux split-window -t work -h 'exec sh -c "echo second; exec cat"'
    for i in $(seq 100); do
      tmux capture-pane -p -t work.0 | grep -qx 42 && break; sleep 0.1
    done
    tmux capture-pane -p -t work.0 | grep -x 42
    tmux capture-pane -p -t work.1 | grep -x second
    tmux list-panes -t work -F '#{pane_tty}' | grep -c /dev/pts/
    tmux set-buffer pasted && tmux paste-buffer -t work.1
    tmux send-keys -t work.1 Enter
    for i in $(seq 100); do
      tmux capture-pane -p -t work.1 | grep -q pasted && break; sleep 0.1
    done
    tmux capture-pane -p -t work.1 | grep -q pasted
    tmux wait-for -S done & tmux wait-for done
    tmux kill-server
    echo 'tmux held'"""


@accept
def test_tmux_server_in_a_job_without_a_terminal(box):
    needs("tmux")
    repo = project(box, {"a.txt": "x\n"})
    run, _ = job(box, repo, TMUX)
    check("tmux held" in run.out, run.told())


@accept
def test_tmux_on_a_terminal_detaches_and_ends(box):
    """A client needs a real terminal; the keys typed outside go through the inner one to it."""
    needs("tmux")
    repo = box.repo()
    env = dict(os.environ, TERM="xterm")
    argv = [box.bawn_path, "run", "--ephemeral", "--quiet", "--", "tmux", "-f", "/dev/null", "new",
            "sh -c 'echo in-$((40+2))-tmux; exec sh'"]
    run = terminal.run(argv, repo, env=env, answers=[
        (b"in-42-tmux", b"echo typed-$((1+1))\r"), (b"typed-2", b"\x02d"),
    ])
    check(run.code == 0 and "detached" in run.out, run.told())
