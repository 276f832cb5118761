"""The commands whose system calls fail, and what must hold after each: the scenes of the suite."""
import json
import os
import stat
import threading

from support import fault_state, faults, leaks
from support.marks import Failure, check, equal

PAYLOAD = ("echo two >>a.txt; echo new >new.txt; rm src/gone.c; chmod +x run.sh; "
           "ln -s a.txt link; mkdir deep; echo deep >deep/file; echo all written")
SAID = "all written"
BEFORE = {"a.txt": "one\n", "src/b.c": "int b;\n", "src/gone.c": "int g;\n", "run.sh": "exit 0\n"}
NAMES = ["a.txt", "deep/file", "link", "new.txt", "run.sh", "src/gone.c"]
RUN = ("run", "--", "sh", "-c", PAYLOAD)
LIKE_ANOTHER = "ended as a point did that has failed"


class Scene:
    """A command that is made to fail, on a place that `prepare` has made ready for it."""

    command = RUN
    codes = (0,)  # how it ends without a fault
    sampled = 1  # what part of a sample it takes in ./dev test

    def __init__(self, box):
        self.box = box
        self.template = f"{box.directory}/work/template"
        self.judged, self.bad, self.lock = {}, set(), threading.Lock()
        self.pid1 = None  # the place of the sandbox's pid 1 in the tree of processes, when recorded
        place = faults.Place(self.template, box.build)
        for name in ("tree", "home", "tmp"):
            os.makedirs(f"{self.template}/{name}")
        place.git("init", "-q", "-b", "main", "--template=", ".")
        place.git("config", "user.name", "Test User")
        place.git("config", "user.email", "test@example.com")
        for name, text in BEFORE.items():
            box.write(f"{place.tree}/{name}", text)
        place.git("add", "-A")
        place.git("commit", "-q", "-m", "base")
        box.settle()
        # The compiled profile is there, as in every run but the first of a machine.
        place.must(place.bawn_path, "run", "--ephemeral", "--", "true")

    def ready(self, name):
        directory = f"{self.box.directory}/work/{name}"
        faults.copy(self.template, directory)
        place = faults.Place(directory, self.box.build, self.pid1)
        self.box.settle()
        self.prepare(place)
        faults.wait_for_write_back(place)
        self.spoil(place)
        return place

    def let_go(self, place):
        faults.remove(place.directory)

    def prepare(self, place):
        pass

    def spoil(self, place):
        """The last of it, when the changes are on the disk."""

    def check_output(self, place, ended):
        """Of every point; `judge` only sees what no point has left before."""

    def points(self, kinds):
        place = self.ready("record")
        recorded = place.record(self.command, self.codes)
        self.let_go(place)
        self.find_pid1(recorded)
        return list(faults.points(recorded, kinds))

    def find_pid1(self, recorded):
        self.pid1 = next((row[0] for row in recorded if row[3] == "bawn-init"), None)

    def try_point(self, point, place):
        """(None or what was wrong, whether the point was met, whether the place is as it was)."""
        before, machine = fault_state.look(place), leaks.Before(os.getuid())
        try:
            ended = place.fault(point, self.command)
        except Failure as failure:
            return str(failure), True, False
        try:
            faults.check_answer(ended)
            self.check_output(place, ended)
            reusable = self.judge_once(place, ended, before)
            if self.box.is_root and not reusable:
                place.bawn("list")  # of an end like one that was judged, nobody has recovered it
                self.check_groups(machine)
        except Failure as failure:
            return f"{failure}\n  after {ended.told()}", ended.hit, False
        return None, ended.hit, reusable

    def judge_once(self, place, ended, before):
        """What many points leave alike is judged at the first of them. True: nothing changed."""
        after = fault_state.look(place)
        end = (ended.code, ended.killed, ended.job_killed, SAID in ended.out.splitlines(),
               fault_state.difference(place, before, after))
        with self.lock:
            known = end in self.judged
            self.judged[end] = self.judged.get(end, 0) + 1
        if known:
            check(end not in self.bad, LIKE_ANOTHER)
            return before == after
        try:
            self.judge(place, ended)
            place.must(place.bawn_path, "discard", "--all", "--yes")
            faults.check_clean(place)
            place.git("fsck", "--strict")
        except Failure:
            self.bad.add(end)
            raise
        return False

    @staticmethod
    def check_groups(before):
        """As root, where points go one by one. They are the machine's, so no look at a place shows
        what a command has lost sight of."""
        left = leaks.left_cgroups(before)
        check(not left, f"control groups: {left}")

    def judge(self, place, ended):
        raise NotImplementedError


def tree_of(place):
    """{path: (kind, mode & 0111, content)} of the work tree."""
    found = {}
    for base, names, files in os.walk(place.tree):
        if base == place.tree:
            names.remove(".git")
        for name in files + [n for n in names if os.path.islink(f"{base}/{n}")]:
            path = f"{base}/{name}"
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                found[os.path.relpath(path, place.tree)] = ("link", 0, os.readlink(path))
                continue
            with open(path, encoding="utf-8") as file:
                found[os.path.relpath(path, place.tree)] = ("file", mode & 0o111, file.read())
    return found


OLD = {name: ("file", 0, text) for name, text in BEFORE.items()}
NEW = dict(OLD, **{"a.txt": ("file", 0, "one\ntwo\n"), "new.txt": ("file", 0, "new\n"),
                   "run.sh": ("file", 0o111, "exit 0\n"), "link": ("link", 0, "a.txt"),
                   "deep/file": ("file", 0, "deep\n")})
del NEW["src/gone.c"]


def check_untouched(place):
    equal(tree_of(place), OLD, "the user's tree")
    equal(place.git("status", "--porcelain"), "", "git status")


def kept(place):
    """The kept sandboxes; what `list` says of recovering them is checked with it."""
    marked = {entry.name for entry in faults.scan(f"{place.state}/running")}
    answer = faults.listed(place)
    equal([e.name for e in faults.scan(f"{place.state}/running")], [], "markers after bawn list")
    for sandbox in answer["sandboxes"]:
        check("damaged" not in sandbox, f"damaged: {sandbox}")
        if sandbox["sandbox_id"] in marked and sandbox["state"] == "interrupted":
            check(any(sandbox["name"] in line for line in answer["recovered"]),
                  f"{sandbox['name']} was recovered without a word: {answer}")
    return [sandbox for sandbox in answer["sandboxes"] if sandbox["kept"]]


def changed_names(place):
    return sorted(name for name in place.must(
        place.bawn_path, "diff", "--names", "-z").split("\0") if name)


class Launch(Scene):
    def judge(self, place, ended):
        check_untouched(place)
        found = kept(place)
        check(len(found) <= 1, f"{len(found)} sandboxes")
        # The job came to its end, whatever became of the command around it.
        if SAID in ended.out.splitlines():
            equal(len(found), 1, "kept sandboxes after the job's last word")
            equal(changed_names(place), NAMES, "what the job changed before its last word")
        if ended.code == 0:
            equal(len(found), 1, "kept sandboxes after exit code 0")
            equal(changed_names(place), NAMES, "what the job changed")
            receipts = json.loads(place.must(place.bawn_path, "show", "--json"))["receipts"]
            equal(receipts[0]["outcome"]["kind"], "exited", "outcome")
        elif found:
            seen = changed_names(place)
            check(set(seen) <= {*NAMES, "deep"}, f"changes: {seen}")
            receipts = json.loads(place.must(place.bawn_path, "show", "--json"))["receipts"]
            check(receipts, "a kept sandbox without a receipt")
            if ended.killed and found[0]["state"] == "interrupted":
                equal(receipts[0]["outcome"]["kind"], "interrupted", "outcome")
        # The tree can be worked on at once.
        place.must(place.bawn_path, "run", "--ephemeral", "--", "true")


class Kept(Scene):
    """Scenes on a kept sandbox."""

    def prepare(self, place):
        place.must(place.bawn_path, *RUN)

    def still_kept(self, place, ended):
        """Whether the changes still wait, all of them unless the act took a part (code 1)."""
        if not kept(place):
            return False
        code, out, err = place.bawn("diff", "--names", "-z")
        if "act.recovered" in err:  # what had begun is finished, and it is said
            return False
        seen = sorted(filter(None, out.split("\0")))
        whole = seen == NAMES or (ended.code == 1 and seen and set(seen) <= {*NAMES, "deep"})
        check(code == 0 and whole, f"the changes: {seen}, code {code}\n  err: {err}")
        return True


class Continue(Kept):
    """A further job in a sandbox that is mounted again."""

    command = ("run", "--in", "@last", "--", "sh", "-c", "echo more >more.txt")

    def judge(self, place, ended):
        check_untouched(place)
        equal(len(kept(place)), 1, "kept sandboxes")
        seen = changed_names(place)
        more = sorted(NAMES + ["more.txt"])
        check(seen == more or (seen == NAMES and ended.code != 0), f"changes: {seen}")
        place.must(place.bawn_path, *self.command)
        equal(changed_names(place), more, "changes after one more job")


class Discard(Kept):
    command = ("discard", "--yes")

    def judge(self, place, ended):
        check_untouched(place)
        if self.still_kept(place, ended):
            check(ended.code != 0, "discard said 0 and the changes are there")
            place.must(place.bawn_path, "discard", "--yes")
        equal(kept(place), [], "kept after discard")


class DiscardPacked(Discard):
    """The host's gc has moved the pin into packed-refs, where every ref of the user is."""

    def prepare(self, place):
        super().prepare(place)
        place.git("pack-refs", "--all")

    def judge(self, place, ended):
        equal(place.git("rev-parse", "--verify", "main").strip(), self.main(place), "main")
        super().judge(place, ended)

    @staticmethod
    def main(place):
        return place.git("rev-list", "--max-parents=0", "HEAD").strip()


class Publish(Kept):
    command = ("publish", "--unreviewed", "--branch", "out", "-m", "message")

    def judge(self, place, ended):
        check_untouched(place)
        before = place.command("git", "rev-parse", "-q", "--verify", "out")[1].strip()
        if self.still_kept(place, ended):
            check(ended.code != 0, "publish said 0 and the changes are pending")
            again = place.bawn(*self.command)
            done = place.command("git", "rev-parse", "-q", "--verify", "out")[0] == 0
            # What was done already is finished, and there is nothing left to publish.
            check(again[0] == 0 or (done and not kept(place)), f"publish again: {again}")
        elif ended.code != 0:
            check(before, "not kept, and nothing published")
        self.check_branch(place, ended)
        check_untouched(place)

    def check_branch(self, place, ended):
        # What could not be read was left for the second one.
        commits = place.git("rev-list", "--count", "main..out").strip()
        check(commits == "1" or (commits == "2" and ended.code != 0), f"{commits} commits")
        names = place.git("ls-tree", "-r", "--name-only", "-z", "out").split("\0")
        equal(sorted(filter(None, names)), sorted(NEW), "published names")
        for name, (_, _, text) in NEW.items():
            equal(place.git("cat-file", "blob", f"out:{name}"), text, f"published {name}")
        check("100755" in place.git("ls-tree", "out", "run.sh"), "mode of run.sh")


class UpdateTree(Publish):
    """The one way onto a checked-out branch: ref, index and tree in one act."""

    command = ("publish", "--unreviewed", "--update-tree", "-m", "message")

    def judge(self, place, ended):
        if self.kept_state(place):
            check(ended.code != 0, "publish said 0 and the changes are pending")
            again = place.bawn(*self.command)
            check(again[0] == 0 or not kept(place), f"publish again: {again}")
        equal(kept(place), [], "kept after publish")
        commits = place.git("rev-list", "--count", "main").strip()
        check(commits == "2" or (commits == "3" and ended.code != 0), f"{commits} commits")
        equal(tree_of(place), NEW, "the tree")
        equal(place.git("status", "--porcelain"), "", "git status")

    @staticmethod
    def kept_state(place):
        return bool(kept(place))


class Apply(Kept):
    command = ("apply", "--unreviewed")

    def judge(self, place, ended):
        seen = tree_of(place)
        for name in set(OLD) | set(NEW) | set(seen):
            if os.path.basename(name).startswith(".bawn-"):
                check(ended.code != 0, f"{name} is left in the tree")
                continue  # staged; the next command puts it in place or takes it away
            check(seen.get(name) in (OLD.get(name), NEW.get(name)),
                  f"{name} is neither as before nor as after: {seen.get(name)}")
        if kept(place):
            check(ended.code != 0, "apply said 0 and the changes are pending")
            again = place.bawn(*self.command)
            check(again[0] == 0 or not kept(place), f"apply again: {again}")
        equal(kept(place), [], "kept after apply")
        equal(tree_of(place), NEW, "the tree after apply")
        if ended.code == 0:  # in one act, so that it is taken back in one
            place.must(place.bawn_path, "apply", "--undo")
            equal(tree_of(place), OLD, "the tree after undo")


class PublishLfsDropped(Kept):
    """What a publish had begun goes with the changes that nobody wants any more: objects of the LFS
    store that no commit names are all that stays."""

    command = (*Publish.command, "--lfs")

    def prepare(self, place):
        with open(f"{place.tree}/.gitattributes", "w", encoding="ascii") as file:
            file.write("new.txt filter=lfs\n")
        place.git("add", "-A")
        place.git("commit", "-q", "-m", "lfs")
        self.box.settle()
        super().prepare(place)

    def judge(self, place, ended):
        equal(place.git("status", "--porcelain"), "", "git status")
        if kept(place):
            code, _, err = place.bawn("discard", "--all", "--yes")
            check(code == 0 or "act.recovered" in err, err)  # that far it had come: it is published
        if place.command("git", "rev-parse", "-q", "--verify", "out")[0] == 0:
            place.git("branch", "-D", "out")
        else:
            check(ended.code != 0, "publish said 0 and there is no branch")


class ApplyPart(Apply):
    """Of two names that are new in one directory: that Bawn touched the directory for the first is
    no sign of the user's work, however the first apply ended."""

    command = ("apply", "--unreviewed", "--path", "new.txt", "--path", "a.txt")

    def judge(self, place, ended):
        equal(len(kept(place)), 1, "kept after an apply of a part")
        place.must(place.bawn_path, "apply", "--unreviewed")
        equal(kept(place), [], "kept after apply")
        equal(tree_of(place), NEW, "the tree after apply")
