#!/usr/bin/env python3
"""tools/tidy.py finds each kind of violation when one is planted, and nothing else."""
import tempfile
import unittest
from pathlib import Path

import cpp_text
import tidy


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.tree = Path(self.temporary.name)
        self.write("src/base/ids.h", "// ids.h\nint Id();\n")

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def assert_clean(self):
        self.assertEqual(tidy.check(self.tree)[0], [])

    def assert_one(self, place, part):
        complaints = tidy.check(self.tree)[0]
        self.assertEqual(len(complaints), 1, complaints)
        self.assertIn(place, complaints[0])
        self.assertIn(part, complaints[0])

    def test_a_line_at_and_past_the_limit(self):
        self.write("src/base/a.cc", "int " + "a" * (tidy.COLUMNS_MAX - 5) + ";\n")
        self.assert_clean()
        self.write("src/base/a.cc", "\nint " + "a" * (tidy.COLUMNS_MAX - 4) + ";\n")
        self.assert_one("a.cc:2:", "101 columns")

    def test_a_function_at_and_past_the_limit(self):
        body = "  Step();\n" * (tidy.FUNCTION_LINES_MAX - 2)
        self.write("src/base/a.cc", "namespace x {\nint F(int a) {\n" + body + "}\n}\n")
        self.assert_clean()
        self.write("src/base/a.cc", "namespace x {\nint F(int a) {\n" + body + "  G();\n}\n}\n")
        self.assert_one("a.cc:2:", "a function of 71 lines")

    def test_a_python_function_past_the_limit(self):
        self.write("tools/a.py", "def f():\n" + "    g()\n" * tidy.FUNCTION_LINES_MAX)
        self.assert_one("tools/a.py:1:", "a function of 71 lines")

    def test_a_file_at_and_past_the_limits(self):
        self.write("src/base/a.cc", "int a;\n" * tidy.FILE_LINES_MAX)
        self.assert_clean()
        self.assertIn("500", tidy.check(self.tree)[1][0])
        self.write("src/base/a.cc", "int a;\n" * (tidy.FILE_LINES_MAX + 1))
        self.assert_one("a.cc:1:", "801 lines")

    def test_a_test_file_may_be_longer(self):
        self.write("src/base/a_test.cc", "int a;\n" * tidy.TEST_LINES_MAX)
        self.assert_clean()
        self.write("src/base/a_test.cc", "int a;\n" * (tidy.TEST_LINES_MAX + 1))
        self.assert_one("a_test.cc:1:", "1201 lines")

    def test_each_banned_call_is_found_with_its_replacement(self):
        calls = ("system(cmd)", "std::system(cmd)", "popen(cmd, mode)", "fork()", "::fork()",
                 "strtol(p, &q, 10)", "atoi(p)", "std::stoi(text)", "sprintf(b, f)", "tmpnam(b)",
                 "std::filesystem::remove_all(path)", "chroot(path)", "setjmp(b)", "rand()")
        for call in calls:
            with self.subTest(call):
                self.write("src/base/a.cc", f"int F() {{\n  return {call};\n}}\n")
                self.assert_one("a.cc:2:", "is banned: ")

    def test_what_only_looks_like_a_banned_call(self):
        self.write("src/base/a.cc", "// never system(x), popen(x) or fork()\n"
                                    "int F() { return Say(\"system(x)\") + file_system(x) +\n"
                                    "                 o.system(x) + p->fork() + MyFork(); }\n")
        self.assert_clean()

    def test_fork_where_it_may_stand(self):
        for name in ("src/sys/a.cc", "src/init/a.cc", "src/base/a_test.cc"):
            with self.subTest(name):
                self.write(name, "int F() { return fork(); }\n")
                self.assert_clean()

    def test_unfinished_work_needs_an_issue(self):
        self.write("src/base/a.cc", "// TODO(#12): say it\n")
        self.assert_clean()
        self.write("src/base/a.cc", "// TODO: say it\n")
        self.assert_one("a.cc:1:", "without an issue")
        self.write("src/base/a.cc", "\n// FIXME(me): say it\n")
        self.assert_one("a.cc:2:", "without an issue")

    def test_a_comment_that_names_a_missing_file(self):
        self.write("src/base/a.cc", "// see ids.h, base/ids.h and src/base/ids.h, sys/stat.h\n")
        self.assert_clean()
        self.write("src/base/a.cc", "int a;  // see base/gone.h\n")
        self.assert_one("a.cc:1:", "base/gone.h, which does not exist")

    def test_an_enforcer_says_who_decides_and_records(self):
        self.write("src/contain/a.cc", "int F() { return MoveMount(1); }\n")
        self.assert_one("contain/a.cc:1:", "Decided in, Enforced by, Recorded as")
        self.write("src/contain/a.h", "// Decided in: p. Enforced by: k. Recorded as: r.\n")
        self.assert_clean()


class FunctionsTest(unittest.TestCase):
    def found(self, text):
        return [(first, last) for first, last, _ in cpp_text.functions(text)]

    def test_classes_and_namespaces_are_no_functions(self):
        text = "namespace a {\nclass B {\n int F() const {\n  return 1;\n }\n};\n}  // a\n"
        self.assertEqual(self.found(text), [(3, 5)])

    def test_a_constructor_with_initialisers_and_a_lambda_inside(self):
        text = "A::A(int b) : b_{b}, c_(b) {\n  auto f = [&] {\n    return b;\n  };\n}\nint x;\n"
        self.assertEqual(self.found(text)[-1][1], 5)

    def test_braces_in_strings_and_comments_do_not_count(self):
        text = 'int F() {\n  Say("}{{");  // {\n  return \'{\';\n}\nint G() {\n}\n'
        self.assertEqual(self.found(text), [(1, 4), (5, 6)])

    def test_an_initialiser_list_is_no_function(self):
        self.assertEqual(self.found("constexpr int kA[] = {\n1,\n2};\nint F() { return 1; }\n"),
                         [(4, 4)])


if __name__ == "__main__":
    unittest.main()
