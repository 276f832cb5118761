"""Sandboxes that outlive the command that made them: bawn-keeper, and the clients that join it."""
import os
import time

from faults.scenes import NAMES, PAYLOAD, Launch, Scene, changed_names, check_untouched, kept
from support import faults, leaks
from support.marks import Failure, check, equal

KEEP = ("run", "--keep", "--name", "k", "--", "sh", "-c", PAYLOAD)
MORE = ("run", "--in", "k", "--", "sh", "-c", "echo more >more.txt")
END = ("discard", "--yes", "k")


class Keep(Launch):
    """From the start to the end that the keeper brings about by itself."""

    command = ("run", "--keep-for", "200ms", "--name", "k", "--", "sh", "-c", PAYLOAD)


def states(place):
    return [sandbox["state"] for sandbox in faults.listed(place)["sandboxes"]]


class Live(Scene):
    """What a command leaves is whole: listed as live, joined by the next command and ended by
    `discard`; or it is gone, but for changes that wait for review."""

    def points(self, kinds):
        place = self.ready("record")
        with faults.Begun(place, None, self.command) as begun:
            begun.command_ended()
            place.must(place.bawn_path, *END)
            begun.all_ended()
        recorded = place.recorded()
        self.let_go(place)
        self.find_pid1(recorded)
        return list(faults.points(self.chosen(recorded), kinds))

    def chosen(self, recorded):
        return recorded

    def try_point(self, point, place):
        hit, machine = False, leaks.Before(os.getuid())
        with faults.Begun(place, point, self.command) as begun:
            try:
                ended = begun.command_ended()
                faults.check_answer(ended)
                self.judge(place, ended)
                ended = begun.all_ended()
                hit = ended.hit
                equal(kept(place), [], "kept after discard")
                faults.check_clean(place)
                if self.box.is_root:
                    self.check_groups(machine)
            except Failure as failure:
                return f"{failure}\n  at {faults.told(point)}\n  {begun.err}", True, False
        return None, hit, False

    def let_go(self, place):
        place.bawn(*END)
        super().let_go(place)

    def judge(self, place, ended):
        check_untouched(place)
        seen = states(place)
        self.check_states(ended, seen)
        joined = seen == ["live"] and self.join(place)
        if seen:
            names = set(changed_names(place))
            check(names <= {*NAMES, "deep", "more.txt"}, f"changes: {names}")
            check(ended.code != 0 or names >= set(NAMES), f"changes of a job that ended: {names}")
            check(not joined or "more.txt" in names, f"changes of the next job: {names}")
            place.must(place.bawn_path, *END)
        check_untouched(place)

    @staticmethod
    def join(place):
        """False: the fault came only now, and the sandbox ended with it, in words."""
        deadline = time.monotonic() + faults.HANG_SECONDS
        while True:
            code, _, err = place.bawn(*MORE)
            if code == 0:
                return True
            check(err.startswith("bawn: "), f"no word why: {err}")
            if states(place) != ["live"]:
                return False
            check(time.monotonic() < deadline, f"live, but not joined: {err}")

    def check_states(self, ended, seen):
        check(len(seen) <= 1, f"sandboxes: {seen}")
        check(ended.code != 0 or seen, "0, and nothing is there")


class KeepLive(Live):
    command = KEEP

    def chosen(self, recorded):
        """Once the keeper is there, but not pid 1 before its first job: Keep looks at that."""
        keeper = next(n for n, row in enumerate(recorded) if row[3] == "bawn-keeper")
        job = max(n for n, row in enumerate(recorded) if row[0].count(".") > 2)
        return [row for n, row in enumerate(recorded)
                if n >= keeper and (row[3] != "bawn-init" or n > job)]


class Join(Live):
    """A client of a sandbox that lives: its end is no end of the sandbox."""

    command = MORE

    def prepare(self, place):
        place.must(place.bawn_path, *KEEP)

    def points(self, kinds):
        place = self.ready("record")
        recorded = place.record(self.command)
        self.let_go(place)
        return list(faults.points(recorded, kinds))

    def check_states(self, ended, seen):
        equal(seen, ["live"], "the sandbox after a client's end")
