# shellcheck shell=sh
# tools/run-tests.sh: how the tests are run as every user that there can be; sourced by ./dev and
# tools/accept in the top directory.

# Debian's python3 by its path: one found first in PATH may belong to root's home.
python=/usr/bin/python3

# What the tests of the ordinary user read: this tree, from every directory above it.
readable_by_others() {
  directory=$(pwd)
  while [ "$directory" != / ]; do
    case $(stat -c %A "$directory") in
      *x | *t) ;;
      *) return 1 ;;
    esac
    directory=$(dirname "$directory")
  done
}

# Runs a command that works as the ordinary user of tools/with-test-user. A checkout below a closed
# home is shown to it at the same path, in a mount namespace that ends with the command.
in_the_open() {
  if [ "$(id -u)" = 0 ] && ! readable_by_others; then
    tools/open-path "$(pwd)" "$@"
  else
    "$@"
  fi
}

# tests/run.py with these arguments, after the builds there are.
run_tests() {
  set -- "$python" tests/run.py --build build/release "$@"
  [ "$(id -u)" = 0 ] && set -- tools/with-test-user tools/with-own-subids "$@"
  in_the_open "$@"
}
