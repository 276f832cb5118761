"""Commands that only ask, and the recovery of what an earlier kill left."""
import json

from faults.scenes import (NAMES, RUN, Apply, Kept, Launch, Scene, UpdateTree, changed_names,
                           check_untouched, kept, tree_of, NEW)
from support import faults
from support.marks import check, equal


# What an answer says of a part that could not be read, beside the rest of it.
UNREAD = ('"damaged"', "its receipts cannot be read", "cannot be published: unreadable")


class Question(Kept):
    """Leaves what waits for review as it was, and never says 0 to a wrong answer."""

    sampled = 0.5

    def __init__(self, box):
        super().__init__(box)
        place = self.ready("expected")
        self.expected = self.meaning(place.must(place.bawn_path, *self.command))
        self.let_go(place)

    def meaning(self, out):
        return out

    def check_output(self, place, ended):
        said = any(word in ended.out for word in UNREAD)
        if ended.code == 0 and not ended.killed and not said:
            equal(self.meaning(ended.out), self.expected, "the answer")

    def judge(self, place, ended):
        check_untouched(place)
        equal(len(kept(place)), 1, "kept sandboxes")
        equal(changed_names(place), NAMES, "the changes")


class Diff(Question):
    command = ("diff",)


class DiffTakesOver(Question):
    """The write-back of the run was killed: the command that needs the changes does it."""

    command = ("diff", "--names")

    def spoil(self, place):
        sandbox = max(faults.scan(f"{place.state}/sb"), key=lambda entry: entry.stat().st_mtime)
        with open(f"{sandbox.path}/durable.pending", "w", encoding="ascii"):
            pass


class List(Question):
    command = ("list", "--json")

    def meaning(self, out):
        return [(one.get("kept"), one.get("state"), one.get("workspace", {}).get("added"),
                 one.get("outcome")) for one in json.loads(out)["sandboxes"]]


class Show(Question):
    command = ("show", "--json")

    def meaning(self, out):
        answer = json.loads(out)
        return (answer["sandbox"]["kept"], answer["sandbox"]["state"],
                [r["outcome"]["kind"] for r in answer["receipts"]])


class Logs(Question):
    command = ("logs",)

    def prepare(self, place):
        place.must(place.bawn_path, "run", "--", "sh", "-c", RUN[-1] + "; echo said")


class Why(Question):
    command = ("why", "--json")

    def meaning(self, out):
        return len(json.loads(out)["decisions"])


class Plan(Scene):
    """What `run` would do: nothing stays of it."""

    command = ("plan", "--", "true")

    def judge(self, place, ended):
        check_untouched(place)
        equal(kept(place), [], "kept sandboxes")
        place.must(place.bawn_path, "run", "--ephemeral", "--", "true")


class Doctor(Plan):
    """Its probes are processes, too: none of them outlives it."""

    command = ("doctor",)
    codes = (0, 1)  # its answer may be no

    def judge(self, place, ended):
        super().judge(place, ended)
        code, _, err = place.bawn("doctor")  # takes away what a killed one has left
        check(code in self.codes, f"doctor again: {code}\n  err: {err}")


class Cut(Scene):
    """`list` recovers what an earlier command left when it was killed: `cut` at `part` of the
    calls of its process `victim`."""

    command = ("list", "--json")
    cut, victim, part = RUN, "0", 0.5
    sampled = 0.5

    def __init__(self, box):
        super().__init__(box)
        self.point, self.found = None, []
        place = self.ready("cut")
        recorded = [row for row in place.record(self.cut) if row[0] == self.victim]
        self.let_go(place)
        self.found = list(faults.points(recorded, ("kill",)))
        self.point = self.found[int(len(self.found) * self.part)]

    def spoil(self, place):
        if self.point:
            check(place.fault(self.point, self.cut).hit, f"not met: {faults.told(self.point)}")


class CutRun(Cut, Launch):
    """While the job runs."""

    part = 0.85

    def judge(self, place, ended):
        Launch.judge(self, place, faults.as_failed(ended))


class CutApply(Cut, Apply):
    cut, victim, part = Apply.command, "0.0", 0.6
    command = Cut.command

    def judge(self, place, ended):
        resume_apply(self, place)


def resume_apply(scene, place):
    """The next command, which is not killed, finishes it."""
    if kept(place):
        again = place.bawn(*scene.cut)
        check(again[0] == 0 or not kept(place), f"again: {again}")
    equal(kept(place), [], "kept")
    equal(tree_of(place), NEW, "the tree")


class ResumeApply(CutApply):
    """The command that takes it up fails, too."""

    command = Apply.command


class ResumeUpdateTree(Cut, UpdateTree):
    cut, victim = UpdateTree.command, "0.0"
    command = UpdateTree.command
    codes = (1,)  # it says that it has finished what was begun

    def __init__(self, box):
        super().__init__(box)
        # Killed in the midst of the act: the middle one of the calls after which it is resumed.
        tried = self.found[::max(len(self.found) // 25, 1)]
        resumed = [point for point in tried if self.is_resumed_after(point)]
        check(resumed, "no kill leaves an act to be resumed")
        self.point = resumed[len(resumed) // 2]

    def is_resumed_after(self, point):
        self.point = point
        place = self.ready("try")
        try:
            return place.bawn(*self.command)[0] in self.codes
        finally:
            self.let_go(place)

    def judge(self, place, ended):
        UpdateTree.judge(self, place, faults.as_failed(ended))
