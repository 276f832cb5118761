"""`bawn run` on a terminal: an inner one, with job control and size, that cannot strike back."""
import os

from support import terminal
from support.marks import check, equal


def job(box, script, *options, **more):
    repo = box.repo()
    return terminal.run([box.bawn_path, "run", "--ephemeral", "--quiet", *options, "--", "sh", "-c",
                         script], repo, env=dict(os.environ), **more)


def test_job_gets_a_terminal_of_its_own(box):
    run = job(box, "tty; test -t 0 && test -t 1 && test -t 2 && echo all; ps -o tty= -p $$")
    equal(run.code, 0, run.told())
    check("/dev/pts/" in run.out and "all" in run.out, run.told())


def test_no_tty_option_gives_pipes(box):
    run = job(box, "test -t 1 || echo none", "-T")
    check("none" in run.out, run.told())


def test_interrupt_key_reaches_the_job(box):
    """O-06: the terminal is an inner one, and job control works all the same."""
    run = job(box, "trap 'echo GOT; exit 7' INT; echo ready; sleep 20 & wait",
              answers=((b"ready", b"\x03"),), seconds=15)
    equal(run.code, 7, run.told())
    check("GOT" in run.out, run.told())


def test_size_and_resize_reach_the_job(box):
    run = job(box, "stty size; trap 'stty size; exit 0' WINCH; echo ready; "
                   "while :; do sleep 0.1; done", size=(33, 99), answers=((b"ready", (44, 111)),),
              seconds=15)
    equal(run.code, 0, run.told())
    check("33 99" in run.out and "44 111" in run.out, run.told())


def test_end_of_input_key_ends_a_reader(box):
    run = job(box, "echo ready; cat >/dev/null; echo over", answers=((b"ready", b"\x04"),),
              seconds=15)
    check(run.code == 0 and "over" in run.out, run.told())


def test_clipboard_and_report_sequences_are_dropped(box):
    """RT-28: what makes a terminal write into somebody's clipboard or answer into their shell."""
    run = job(box, r"printf 'a\033]52;c;aGk=\007b\033[21tc\033]0;title\007d\n'")
    equal(run.code, 0, run.told())
    check("]52;" not in run.out and "[21t" not in run.out, repr(run.out))
    check(all(letter in run.out for letter in "abcd"), repr(run.out))


def test_terminal_is_as_before_after_the_job(box):
    repo = box.repo()
    script = ('stty -a >"$HOME/before"; "$0" run --ephemeral --quiet -- sh -c "stty raw -echo"; '
              'stty -a >"$HOME/after"; cmp "$HOME/before" "$HOME/after" && echo same')
    run = terminal.run(["sh", "-c", script, box.bawn_path], repo, env=dict(os.environ))
    check("same" in run.out, run.told())
