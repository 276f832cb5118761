"""C and C++: build and test, sanitizers, valgrind, the debugger."""
from support.marks import accept, check, timeout
from support.real_work import has_line, job, needs, project

CMAKE = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.20)
project(sheet CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(Threads REQUIRED)
add_library(calc src/calc.cc)
target_include_directories(calc PUBLIC src)
add_executable(sheet src/main.cc)
target_link_libraries(sheet PRIVATE calc)
enable_testing()
add_executable(calc_test test/calc_test.cc)
target_link_libraries(calc_test PRIVATE calc Threads::Threads)
add_test(NAME calc COMMAND calc_test)
install(TARGETS sheet DESTINATION bin)
""",
    "src/calc.h": "#pragma once\n#include <vector>\nint Sum(const std::vector<int>& values);\n",
    "src/calc.cc": "#include \"calc.h\"\n#include <numeric>\nint Sum(const std::vector<int>& v) {"
                   " return std::accumulate(v.begin(), v.end(), 0); }\n",
    "src/main.cc": "#include <iostream>\n#include \"calc.h\"\n"
                   "int main() { std::cout << Sum({40, 2}) << '\\n'; }\n",
    "test/calc_test.cc": """#include <cassert>
#include <filesystem>
#include <fstream>
#include <future>
#include "calc.h"
int main() {
  auto sum = std::async(std::launch::async, [] { return Sum({1, 2, 3}); });
  if (sum.get() != 6) return 1;
  auto path = std::filesystem::temp_directory_path() / "calc_test.txt";
  std::ofstream(path) << "x";
  return std::filesystem::remove(path) ? 0 : 1;
}
""",
    ".gitignore": "build/\n",
}


def test_cmake_project_builds_tests_and_installs(box):
    needs("cmake", "ninja", "clang++-19")
    repo = project(box, CMAKE)
    run, names = job(box, repo, """
        export CXX=clang++-19
        cmake -S . -B build -G Ninja
        cmake --build build
        ctest --test-dir build --output-on-failure
        cmake --install build --prefix "$PWD/stage"
        ./stage/bin/sheet
        sed -i 's/40, 2/40, 3/' src/main.cc
        cmake --build build && ./build/sheet""")
    has_line(run, "42")
    has_line(run, "43")
    check({"stage/bin/sheet", "src/main.cc", "build/sheet"} <= set(names), f"changed: {names}")


@accept
def test_make_and_gcc_with_a_debian_toolchain(box):
    needs("gcc", "make", "ar")
    repo = project(box, {
        "Makefile": "all: prog\nlib.a: lib.o\n\tar rcs $@ $<\nprog: main.o lib.a\n"
                    "\t$(CC) -flto -o $@ $^\ncheck: prog\n\t./prog | grep -qx 42\n",
        "lib.c": "int f(void) { return 42; }\n",
        "main.c": "#include <stdio.h>\nint f(void);\nint main(void) { printf(\"%d\\n\", f()); }\n"})
    job(box, repo, "make -j4 CC=gcc && make check && make -n clean 2>/dev/null || true; ./prog")


OVERFLOW = """#include <stdlib.h>
int main(int count, char** words) {
  (void)words;
  char* p = malloc(4);
  p[count + 3] = 1;
  free(p);
  return 0;
}
"""
LEAK = """#include <stdlib.h>
void* volatile kept;
int main(void) { kept = malloc(100); kept = 0; return 0; }
"""
RACE = """#include <pthread.h>
int x;
void* add(void* p) { for (int i = 0; i < 1000; ++i) ++x; return p; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, add, 0);
  pthread_create(&b, 0, add, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"""
UNDEFINED = "int main(int count, char** words) { (void)words; return 1 << (count + 40); }\n"
FAULTS = {"overflow.c": OVERFLOW, "leak.c": LEAK, "race.c": RACE, "undefined.c": UNDEFINED}

# What each tool must say about each program: it works, and sees what is there to see.
SANITIZERS = [("overflow", "address", "heap-buffer-overflow"), ("leak", "address", "LeakSanitizer"),
              ("race", "thread", "data race"), ("undefined", "undefined", "shift exponent")]


def sanitize(box, compiler):
    needs(compiler)
    repo = project(box, FAULTS)
    for name, kind, said in SANITIZERS:
        run, _ = job(box, repo, f"""
            {compiler} -g -fsanitize={kind} {name}.c -o {name} -pthread
            ./{name} >out.txt 2>&1 || true
            cat out.txt""")
        check(said in run.out, f"{compiler} -fsanitize={kind} did not see it\n{run.told()}")


@timeout(300)
def test_sanitizers_of_clang(box):
    sanitize(box, "clang-19")


@accept
@timeout(300)
def test_sanitizers_of_gcc(box):
    sanitize(box, "gcc")


@accept
@timeout(300)
def test_valgrind_finds_what_it_finds_outside(box):
    needs("valgrind", "gcc")
    repo = project(box, FAULTS)
    for options in ((), ("--profile", "debug")):
        run, _ = job(box, repo, """
            gcc -g overflow.c -o overflow && gcc -g race.c -o race -pthread
            valgrind --error-exitcode=9 ./overflow && exit 1
            valgrind --tool=helgrind --error-exitcode=9 ./race && exit 1
            valgrind --tool=callgrind ./overflow
            valgrind --version""", options=options)
        for said in ("Invalid write of size 1", "Possible data race", "overflow.c:5"):
            check(said in run.err, f"valgrind did not say {said!r}\n{run.told()}")


@accept
@timeout(300)
def test_gdb_and_strace_with_profile_debug(box):
    needs("gdb", "strace", "gcc")
    repo = project(box, FAULTS)
    script = """
        gcc -g overflow.c -o overflow && gcc -g race.c -o race -pthread
        gdb -q -batch -ex 'break main' -ex run -ex bt -ex 'next' -ex 'print count' -ex continue \
            ./overflow
        gdb -q -batch -ex 'break add' -ex run -ex 'info threads' -ex kill ./race
        ./overflow & wait
        sleep 30 & gdb -q -batch -p $! -ex 'info registers rip' -ex detach; kill %1 || true
        strace -f -o trace.txt ./race && grep -c clone trace.txt"""
    run, _ = job(box, repo, script, options=("--profile", "debug"))
    for said in ("Breakpoint 1, main", "$1 = 1", "exited normally", "rip", "LWP"):
        check(said in run.out, f"gdb did not say {said!r}\n{run.told()}")
