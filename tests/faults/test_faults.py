"""Every system call of every command failing once, and kill -9 at each.

`./dev test` takes a spread of the points, the same ones in every run; `./dev accept` takes all of
them (resumable: what has passed with these programs is not repeated).
"""
from faults import live_scenes, more_scenes, scenes
from support.fault_run import run_sample, run_whole
from support.marks import accept, timeout

SCENES = {
    "apply": scenes.Apply, "discard": scenes.Discard, "publish": scenes.Publish,
    "discard_of_a_packed_pin": scenes.DiscardPacked, "update_tree": scenes.UpdateTree,
    "publish_with_lfs_that_is_dropped": scenes.PublishLfsDropped,
    "apply_of_a_part": scenes.ApplyPart,
    "list": more_scenes.List, "show": more_scenes.Show, "logs": more_scenes.Logs,
    "why": more_scenes.Why, "plan": more_scenes.Plan, "doctor": more_scenes.Doctor,
    "diff": more_scenes.Diff,
    "diff_that_takes_over": more_scenes.DiffTakesOver,
    "recovery_of_run": more_scenes.CutRun, "recovery_of_apply": more_scenes.CutApply,
    "resumed_apply": more_scenes.ResumeApply,
    "resumed_update_tree": more_scenes.ResumeUpdateTree,
    "join": live_scenes.Join, "keep_live": live_scenes.KeepLive, "keep": live_scenes.Keep,
    "launch": scenes.Launch, "continue": scenes.Continue,
}


def tests():
    for name, scene in SCENES.items():
        yield f"test_sample_of_{name}", lambda box, s=scene: run_sample(box, s)
        for title, kind in ((f"test_each_call_of_{name}_fails", "error"),
                            (f"test_kill_at_each_call_of_{name}", "kill")):
            whole = lambda box, s=scene, k=kind: run_whole(box, s, k)
            yield title, timeout(3000)(accept(whole))


globals().update(tests())
