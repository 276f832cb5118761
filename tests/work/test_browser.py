"""A-11: headless Chromium with profile `browser`: its own sandbox stays on, behind ours."""
import re

from support.marks import accept, as_user, check, equal, timeout
from support.real_work import job, needs, project

# Nothing here switches a wall off. The rest keeps it from looking for a network it has not got.
FLAGS = ("--headless=new --disable-gpu --no-first-run --disable-background-networking "
         "--disable-component-update --disable-sync --no-default-browser-check "
         "--user-data-dir=/tmp/profile")
PAGE = """<html><body><p id="p">no</p><script>
const worker = new Worker(URL.createObjectURL(new Blob(["postMessage(6*7)"])));
worker.onmessage = e => document.getElementById('p').textContent = 'computed ' + e.data;
</script></body></html>
"""

# While a page is open: every process of the browser, with what the kernel says contains it.
LOOK = f"""
    chromium {FLAGS} --remote-debugging-port=0 page.html >/dev/null 2>&1 &
    for i in $(seq 200); do pgrep -f '[t]ype=renderer' >/dev/null && break; sleep 0.1; done
    sleep 1
    for pid in $(pgrep -f '[t]ype=renderer'); do
      echo "renderer $(grep -h -E '^(NSpid|Seccomp|Seccomp_filters|NoNewPrivs):' \
        /proc/$pid/status | tr -s '\\t\\n' '  ')"
    done
    echo "browser $(grep -h -E '^(NSpid|Seccomp_filters):' /proc/$!/status | tr -s '\\t\\n' '  ')"
    kill $!; wait $! || true"""


def numbers(line, name):
    return [int(x) for x in re.search(rf"{name}: ((?:\d+ ?)+)", line).group(1).split()]


@accept
@as_user
@timeout(300)
def test_page_is_rendered_with_script_and_worker(box):
    needs("chromium")
    repo = project(box, {"page.html": PAGE})
    run, names = job(box, repo, f"""
        timeout 100 chromium {FLAGS} --virtual-time-budget=3000 --dump-dom "file://$PWD/page.html" \
            2>/dev/null
        timeout 100 chromium {FLAGS} --screenshot="$PWD/shot.png" --window-size=300,200 \
            "file://$PWD/page.html" 2>/dev/null
        timeout 100 chromium {FLAGS} --print-to-pdf="$PWD/page.pdf" "file://$PWD/page.html" \
            2>/dev/null""", options=("--profile", "browser"))
    check("computed 42" in run.out, run.told())
    equal(names, ["page.pdf", "shot.png"], "changed")


@accept
@as_user
@timeout(300)
def test_its_own_sandbox_is_on(box):
    """Renderers stand in a pid namespace and behind a filter of Chromium's own, besides ours."""
    needs("chromium")
    repo = project(box, {"page.html": PAGE})
    run, _ = job(box, repo, LOOK, options=("--profile", "browser"))
    browser = next(line for line in run.out.splitlines() if line.startswith("browser "))
    renderers = [line for line in run.out.splitlines() if line.startswith("renderer ")]
    check(renderers, f"no renderer\n{run.told()}")
    for line in renderers:
        check(len(numbers(line, "NSpid")) > len(numbers(browser, "NSpid")), run.told())
        check(numbers(line, "Seccomp_filters")[0] > numbers(browser, "Seccomp_filters")[0],
              run.told())
        equal(numbers(line, "NoNewPrivs"), [1], "NoNewPrivs")


@accept
@as_user
@timeout(120)
def test_profile_default_does_not_open_namespaces_for_it(box):
    """The positive control of the profile: without its rows Chromium's sandbox cannot start, and
    Chromium says so instead of running without."""
    needs("chromium")
    repo = project(box, {"page.html": PAGE})
    run = box.run("sh", "-c", f"timeout 60 chromium {FLAGS} --dump-dom page.html",
                  options=("--ephemeral", "--quiet"), cwd=repo, seconds=100)
    check(run.code != 0 and "sandbox" in run.err, run.told())
