"""What a place holds, and what a command changed in it: so that what many points leave alike is
judged once, and a place that a point left as it was serves the next one.
"""
import os
import re
import stat

READ_MAX = 1 << 20

# What differs from run to run and means nothing: ids, object names, times, inodes, figures.
MEANINGLESS = [(re.compile(pattern), word) for pattern, word in (
    (rb"[a-z2-7]{26}", b"ID"),
    (rb"\.tmp_\w+", b".tmp_"), (rb"[0-9a-f]{40}([0-9a-f]{24})?", b"OID"),
    (rb"\d{4}-\d\d-\d\dT[0-9:.]+Z", b"TIME"), (rb'("cpu_ms"|"pids_peak"): ?\d+', b"FIGURE"),
    (rb"\d{4,}", b"N"))]
NAME = re.compile(rb'"name": ?"([a-z0-9-]+)"')


def look(place):
    """{path: what tells two states apart} of everything below a place's four directories."""
    found = {}
    for top in (place.tree, place.state, place.tmp, place.home):
        for base, names, files in os.walk(top):
            git = "/.git" in base[len(place.directory):]
            add(found, base, base.startswith(place.tree) and not git)
            for name in files:
                add(found, f"{base}/{name}", True, git)
            for name in names:
                if os.path.islink(f"{base}/{name}"):
                    add(found, f"{base}/{name}", True)
    return found


def add(found, path, times, git=False):
    """The change time of a file of git's counts no further: a pin of Bawn is a link to it."""
    st = os.lstat(path)
    if "/state/locks/" in path and st.st_size == 0:
        return  # a lock's name; who holds it is gone
    marks = ()
    if "/layers/" in path and not stat.S_ISLNK(st.st_mode):
        marks = tuple(sorted(os.listxattr(path, follow_symlinks=False)))
    moment = (st.st_mtime_ns, 0 if git else st.st_ctime_ns) if times else ()
    size = 0 if stat.S_ISDIR(st.st_mode) else st.st_size
    found[path] = (st.st_mode, st.st_ino, size, moment, marks)


def difference(place, before, after):
    """What changed, in words that are the same for two places in which the same changed."""
    names = [name for path in after if path.endswith("/meta.json")
             for name in NAME.findall(read(path))]
    lines = [b"gone " + alike(place, path.encode(), names) for path in before.keys() - after.keys()]
    for path in after:
        if before.get(path) != after[path]:
            lines.append(told(place, path, after[path], names))
    return b"\n".join(sorted(lines))


def told(place, path, entry, names):
    mode, _, size, _, marks = entry
    line = b"%o %s %s " % (mode, alike(place, path.encode(), names), ",".join(marks).encode())
    if stat.S_ISLNK(mode):
        return line + alike(place, os.readlink(path).encode(), names)
    if not stat.S_ISREG(mode):
        return line
    if path.endswith("/.git/index"):
        return line + index_entries(read(path))
    # A pack or an object holds the time of its commit; whether it is whole, its size says.
    if "/.git/objects/" in path:
        return line + b"%d" % (size // 256)
    return line + alike(place, read(path), names)


def index_entries(data):
    """Names and objects of an index of version 2, without the times of the files."""
    lines, at = [], 12
    for _ in range(int.from_bytes(data[8:12], "big")):
        size = int.from_bytes(data[at + 60:at + 62], "big") & 0xFFF
        lines.append(data[at + 24:at + 28] + data[at + 40:at + 62 + size])
        at += (62 + size + 8) & ~7
    return b" ".join(lines)


def alike(place, data, names):
    data = data.replace(place.directory.encode(), b"PLACE")
    for name in names:
        data = data.replace(name, b"NAME")
    for pattern, word in MEANINGLESS:
        data = pattern.sub(word, data)
    return data


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read(READ_MAX)
    except OSError as error:
        return str(error.errno).encode()
