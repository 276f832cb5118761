"""Goes through the points of a scene (tests/faults/scenes.py), several at a time, resumably."""
import concurrent.futures
import hashlib
import os
import queue
import threading

from . import faults
from .marks import check

# Points of one scene in ./dev test.
SAMPLE = int(os.environ.get("BAWN_FAULTS_SAMPLE", "24"))
# As root the same programs take the same way but for ids and control groups, one run at a time.
AS_ROOT = int(os.environ.get("BAWN_FAULTS_AS_ROOT", "100"))  # of a scene and kind; 0: all
# How many failures end a scene, and the one point to repeat (as a failure names it).
FAILURES_MAX = int(os.environ.get("BAWN_FAULTS_MAX", "25"))
ONLY = os.environ.get("BAWN_FAULTS_AT")
AT_ONCE = 4  # half of a point's time is waiting: for a disk, for the coarse clock
PROGRAMS = ("bawn", "bawn-init", "bawn-worker", "bawn-keeper")


class Progress:
    """Which points have passed with these very programs, so that a long run can go on."""

    def __init__(self, build, name):
        digest = hashlib.sha256()
        for program in PROGRAMS:
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


class Runner:
    def __init__(self, scene, progress):
        self.scene, self.progress = scene, progress
        self.lock, self.numbers = threading.Lock(), iter(range(1 << 30))
        self.places = queue.SimpleQueue()  # that a point left exactly as they were
        self.failures, self.tried, self.missed = [], 0, []

    def one(self, point):
        if len(self.failures) >= FAILURES_MAX:
            return
        if self.progress and faults.at(point) in self.progress.passed:
            return
        try:
            place = self.places.get_nowait()
        except queue.Empty:
            with self.lock:
                number = next(self.numbers)
            place = self.scene.ready(f"p{number}")
        wrong, hit, reusable = self.scene.try_point(point, place)
        if reusable:
            self.places.put(place)
        else:
            self.scene.let_go(place)
        with self.lock:
            self.tried += 1
            if not hit:
                self.missed.append(faults.at(point))
            if wrong:
                self.failures.append(wrong)
            elif self.progress:
                self.progress.note(point)


def run(scene, found, progress=None):
    """Stops early when too much is wrong to read."""
    if ONLY:
        found = [point for point in found if faults.at(point) == ONLY]
    runner = Runner(scene, progress)
    # As root each has a state directory of its own, but the machine's one range of ids: two at once
    # would take the same ids without knowing of each other.
    at_once = 1 if scene.box.is_root else AT_ONCE
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for future in [pool.submit(runner.one, point) for point in found]:
            future.result()
    while not runner.places.empty():
        scene.let_go(runner.places.get())
    failures = runner.failures
    print(f"{len(found)} points, {runner.tried} tried, {len(runner.missed)} not met, "
          f"{len(scene.judged)} ends")
    check(not failures, f"{len(failures)} of {len(found)} points failed:\n" + "\n\n".join(failures))
    # A point that another run of the same command does not come by has shown nothing.
    check(len(runner.missed) * 20 <= runner.tried,
          f"{len(runner.missed)} of {runner.tried} points not met: {runner.missed[:20]}")
    if progress:
        progress.done()


def run_sample(box, scene_class):
    scene = scene_class(box)
    salt = sum(map(ord, scene_class.__name__))
    count = int(SAMPLE * scene.sampled)
    run(scene, faults.spread(scene.points(("error", "kill")), count, salt))


def run_whole(box, scene_class, kind):
    scene = scene_class(box)
    found = scene.points((kind,))
    if box.is_root and AS_ROOT:
        found = faults.spread(found, AS_ROOT, 0)
    run(scene, found, Progress(box.build, f"{scene_class.__name__}.{kind}"))
