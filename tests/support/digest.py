"""One digest of a whole tree: what "untouched outside" is measured by."""
import hashlib
import os
import stat

# Where Bawn may write in a repository while changes wait (promise 1 of the design).
PINS = (".git/bawn", ".git/refs/bawn")


def entry(path):
    """Everything of one entry that a program could tell apart. Not the times of a directory: a pin
    made and removed below it moves them."""
    info = os.lstat(path)
    told = [oct(info.st_mode), info.st_uid, info.st_gid]
    if stat.S_ISLNK(info.st_mode):
        told.append(os.readlink(path))
    elif stat.S_ISREG(info.st_mode):
        with open(path, "rb") as file:
            told += [info.st_size, info.st_mtime_ns,
                     hashlib.file_digest(file, "sha256").hexdigest()]
    elif not stat.S_ISDIR(info.st_mode):
        told.append(info.st_rdev)
    told.append({name: os.getxattr(path, name, follow_symlinks=False).hex()
                 for name in os.listxattr(path, follow_symlinks=False)})
    return repr(told)


def tree(*roots, pins=False):
    """{path: entry} of everything below the roots; with `pins`, also what PINS name."""
    found = {}
    for root in roots:
        for base, folders, files in os.walk(root):
            if not pins:
                folders[:] = [f for f in folders
                              if not f"{base}/{f}".endswith(PINS)]
            for name in folders + files:
                path = os.path.join(base, name)
                found[path] = entry(path)
    return found


def difference(before, after):
    """Paths that are not the same in both, as lines; empty when the trees are equal."""
    lines = [f"gone: {path}" for path in before.keys() - after.keys()]
    lines += [f"new: {path}" for path in after.keys() - before.keys()]
    lines += [f"changed: {path}\n    {before[path]}\n    {after[path]}"
              for path in before.keys() & after.keys() if before[path] != after[path]]
    return sorted(lines)
