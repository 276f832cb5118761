"""Marks on test functions, and the two ways a test ends early."""
import os


class Failure(AssertionError):
    """A check did not hold."""


class Skip(Exception):
    """The machine cannot run this test. Counts as a failure unless tests/CANNOT_RUN.md names it."""


def as_root(function):
    """Only root can run it; an ordinary user's run lists it as not run."""
    function.identities = ("root",)
    return function


def as_user(function):
    """Only an ordinary user can run it."""
    function.identities = ("user",)
    return function


def as_builder(function):
    """Writes into the build directory, as cmake --install does: only who built can run it."""
    function.identities = ("root",) if os.getuid() == 0 else ("user",)
    return function


def accept(function):
    """Long: only `./dev accept` runs it."""
    function.accept = True
    return function


def timeout(seconds):
    def mark(function):
        function.timeout = seconds
        return function

    return mark


def check(condition, message):
    """The one assertion: `message` says what was seen."""
    if not condition:
        raise Failure(message)


def equal(seen, expected, what):
    check(seen == expected, f"{what}: expected {expected!r}, saw {seen!r}")


def release_only(function):
    """About the shipped programs: not listed for a sanitizer build."""
    function.release_only = True
    return function
