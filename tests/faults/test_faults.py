"""Every system call of launch, publish, apply and discard failing once, and kill -9 at each.

`./dev test` takes a spread of the points, the same ones in every run; `./dev accept` takes all of
them (resumable: what has passed with these programs is not repeated).
"""
import concurrent.futures
import errno
import hashlib
import json
import os
import stat
import threading

from support import faults
from support.marks import Failure, accept, check, equal, timeout

# Points of one scene in ./dev test.
SAMPLE = int(os.environ.get("BAWN_FAULTS_SAMPLE", "24"))
SAMPLE_AS_ROOT = 200  # of one scene and kind in ./dev accept
PAYLOAD = ("echo two >>a.txt; echo new >new.txt; rm src/gone.c; chmod +x run.sh; "
           "ln -s a.txt link; mkdir deep; echo deep >deep/file")
BEFORE = {"a.txt": "one\n", "src/b.c": "int b;\n", "src/gone.c": "int g;\n", "run.sh": "exit 0\n"}
NAMES = ["a.txt", "deep/file", "link", "new.txt", "run.sh", "src/gone.c"]
RUN = ("run", "--", "sh", "-c", PAYLOAD)


class Scene:
    """A command that is made to fail, on a place that `prepare` has made ready for it."""

    command = RUN

    def __init__(self, box):
        self.box = box
        self.template = f"{box.directory}/work/template"
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
        self.expected_tree = None

    def place(self, name):
        directory = f"{self.box.directory}/work/{name}"
        faults.copy(self.template, directory)
        place = faults.Place(directory, self.box.build)
        self.box.settle()
        self.prepare(place)
        return place

    def prepare(self, place):
        pass

    def points(self, kinds):
        place = self.place("record")
        recorded = place.record(self.command)
        faults.remove(place.directory)
        return list(faults.points(recorded, kinds))

    def try_point(self, point, name):
        """None, or what was wrong."""
        place = self.place(name)
        try:
            ended = place.fault(point, self.command)
            try:
                faults.check_answer(ended)
                self.judge(place, ended)
                place.must(place.bawn_path, "discard", "--all", "--yes")
                faults.check_clean(place)
                place.git("fsck", "--strict")
            except Failure as failure:
                raise Failure(f"{failure}\n  after {ended.told()}") from failure
        except Failure as failure:
            return str(failure)
        finally:
            faults.remove(place.directory)
        return None

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
        if ended.code == 0:
            equal(len(found), 1, "kept sandboxes after exit code 0")
            equal(changed_names(place), NAMES, "what the job changed")
            receipts = json.loads(place.must(place.bawn_path, "show", "--json"))["receipts"]
            equal(receipts[0]["outcome"]["kind"], "exited", "outcome")
        elif found:
            seen = changed_names(place)
            check(set(seen) <= set(NAMES), f"changes: {seen}")
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


class ApplyPart(Apply):
    """Of two names that are new in one directory: that Bawn touched the directory for the first is
    no sign of the user's work, however the first apply ended."""

    command = ("apply", "--unreviewed", "--path", "new.txt", "--path", "a.txt")

    def judge(self, place, ended):
        equal(len(kept(place)), 1, "kept after an apply of a part")
        place.must(place.bawn_path, "apply", "--unreviewed")
        equal(kept(place), [], "kept after apply")
        equal(tree_of(place), NEW, "the tree after apply")


# -- the runner ------------------------------------------------------------------------------------

class Progress:
    """Which points have passed with these very programs, so that a long run can go on."""

    def __init__(self, build, name):
        digest = hashlib.sha256()
        for program in ("bawn", "bawn-init", "bawn-worker", "bawn-keeper"):
            with open(f"{build}/bin/{program}", "rb") as file:
                digest.update(file.read())
        directory = f"/var/tmp/bawn-test-faults.{os.getuid()}"
        os.makedirs(directory, mode=0o700, exist_ok=True)
        check(os.lstat(directory).st_uid == os.getuid(), f"{directory} is somebody else's")
        self.path = f"{directory}/{name}.{digest.hexdigest()[:16]}"
        self.passed = set()
        if os.path.exists(self.path):
            with open(self.path, encoding="ascii") as file:
                self.passed = set(file.read().split())

    def note(self, point):
        with open(self.path, "a", encoding="ascii") as file:
            file.write(faults.at(point) + "\n")

    def done(self):
        if os.path.exists(self.path):
            os.unlink(self.path)


# Read before the test's own environment is made: how many failures end a scene, and the one point
# to repeat (as a failure names it).
FAILURES_MAX = int(os.environ.get("BAWN_FAULTS_MAX", "25"))
ONLY = os.environ.get("BAWN_FAULTS_AT")


def run_points(scene, found, progress=None):
    """Two at a time; stops early when too much is wrong to read."""
    failures, number, lock = [], iter(range(1 << 30)), threading.Lock()

    def one(point):
        if len(failures) >= FAILURES_MAX or (progress and faults.at(point) in progress.passed):
            return
        with lock:
            name = f"p{next(number)}"
        wrong = scene.try_point(point, name)
        with lock:
            if wrong:
                failures.append(wrong)
            elif progress:
                progress.note(point)

    # As root each has a state directory of its own, but the machine's one range of ids: two at once
    # would take the same ids without knowing of each other.
    at_once = 1 if scene.box.is_root else 2
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for future in [pool.submit(one, point) for point in found]:
            future.result()
    check(not failures, f"{len(failures)} of {len(found)} points failed:\n" + "\n\n".join(failures))
    if progress:
        progress.done()


def run_sample(box, scene_class):
    scene = scene_class(box)
    salt = sum(map(ord, scene_class.__name__))
    run_points(scene, faults.spread(scene.points(("error", "kill")), SAMPLE, salt))


def run_whole(box, scene_class, kind):
    scene = scene_class(box)
    found = scene.points((kind,))
    # An interruption is one loop in sys/: every fifth place of it. As root the same programs take
    # the same way but for the ids: a spread.
    interrupted = [point for point in found if point.action == str(errno.EINTR)]
    rest = [point for point in found if point.action != str(errno.EINTR)]
    found = rest + interrupted[::5]
    if box.is_root:
        found = faults.spread(found, SAMPLE_AS_ROOT, 0)
    if ONLY:
        found = [point for point in found if faults.at(point) == ONLY]
    run_points(scene, found, Progress(box.build, f"{scene_class.__name__}.{kind}"))


def test_sample_of_launch(box):
    run_sample(box, Launch)


def test_sample_of_continue(box):
    run_sample(box, Continue)


def test_sample_of_publish(box):
    run_sample(box, Publish)


def test_sample_of_publish_with_lfs_that_is_dropped(box):
    run_sample(box, PublishLfsDropped)


def test_sample_of_update_tree(box):
    run_sample(box, UpdateTree)


def test_sample_of_apply(box):
    run_sample(box, Apply)


def test_sample_of_apply_of_a_part(box):
    run_sample(box, ApplyPart)


def test_sample_of_discard(box):
    run_sample(box, Discard)


def test_sample_of_discard_of_a_packed_pin(box):
    run_sample(box, DiscardPacked)


@accept
@timeout(1500)
def test_each_call_of_launch_fails(box):
    run_whole(box, Launch, "error")


@accept
@timeout(1500)
def test_each_call_of_continue_fails(box):
    run_whole(box, Continue, "error")


@accept
@timeout(1500)
def test_each_call_of_publish_fails(box):
    run_whole(box, Publish, "error")


@accept
@timeout(1500)
def test_each_call_of_update_tree_fails(box):
    run_whole(box, UpdateTree, "error")


@accept
@timeout(1500)
def test_each_call_of_apply_fails(box):
    run_whole(box, Apply, "error")


@accept
@timeout(1500)
def test_each_call_of_apply_of_a_part_fails(box):
    run_whole(box, ApplyPart, "error")


@accept
@timeout(1500)
def test_each_call_of_discard_fails(box):
    run_whole(box, Discard, "error")


@accept
@timeout(1500)
def test_each_call_of_discard_of_a_packed_pin_fails(box):
    run_whole(box, DiscardPacked, "error")


@accept
@timeout(1500)
def test_kill_at_each_call_of_launch(box):
    run_whole(box, Launch, "kill")


@accept
@timeout(1500)
def test_kill_at_each_call_of_continue(box):
    run_whole(box, Continue, "kill")


@accept
@timeout(1500)
def test_kill_at_each_call_of_publish(box):
    run_whole(box, Publish, "kill")


@accept
@timeout(1500)
def test_kill_at_each_call_of_publish_with_lfs_that_is_dropped(box):
    run_whole(box, PublishLfsDropped, "kill")


@accept
@timeout(1500)
def test_kill_at_each_call_of_update_tree(box):
    run_whole(box, UpdateTree, "kill")


@accept
@timeout(1500)
def test_kill_at_each_call_of_apply(box):
    run_whole(box, Apply, "kill")


@accept
@timeout(1500)
def test_kill_at_each_call_of_apply_of_a_part(box):
    run_whole(box, ApplyPart, "kill")


@accept
@timeout(1500)
def test_kill_at_each_call_of_discard(box):
    run_whole(box, Discard, "kill")


@accept
@timeout(1500)
def test_kill_at_each_call_of_discard_of_a_packed_pin(box):
    run_whole(box, DiscardPacked, "kill")
