"""The levels that this build and this machine can give this user, found by asking for each."""
ALL = ("restricted", "isolated", "bounded")


def available(box, repo):
    """Never empty: `isolated` is what everything else rests on."""
    found = []
    for level in ALL:
        run = box.run("true", options=("--ephemeral", "--quiet", "--level", level), cwd=repo)
        if run.code == 0:
            found.append(level)
        elif level == "isolated":
            run.expect(0)
    return found
