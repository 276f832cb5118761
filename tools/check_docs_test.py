#!/usr/bin/env python3
"""tools/check_docs.py finds each kind of violation when one is planted, and nothing else."""
import json
import tempfile
import unittest
from pathlib import Path

import check_docs

TABLE = {"commands": [
    {"name": "run", "usage": "bawn run [OPTION]... [--] COMMAND [ARGUMENT]...", "options": [
        {"name": "timeout", "letter": None, "argument": "TIME"},
        {"name": "quiet", "letter": "q", "argument": None}]},
    {"name": "diff", "usage": "bawn diff [OPTION]... [SANDBOX]", "options": [
        {"name": "digest", "letter": None, "argument": None}]}]}


class CheckDocsTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.tree = Path(self.temporary.name).resolve()
        self.write(check_docs.TABLE, json.dumps(TABLE))
        self.write("src/base/ids.h", "")
        self.write("dev", "")
        self.write("docs/guide.md", "# A guide, of sorts\n")

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def complaints(self, text):
        self.write("README.md", text)
        return check_docs.check(self.tree)

    def assert_clean(self, text):
        self.assertEqual(self.complaints(text), [])

    def assert_one(self, text, line, part):
        complaints = self.complaints(text)
        self.assertEqual(len(complaints), 1, complaints)
        self.assertTrue(complaints[0].startswith(f"README.md:{line}: "), complaints)
        self.assertIn(part, complaints[0])

    def test_what_exists_gives_no_complaint(self):
        self.assert_clean("[a](docs/guide.md#a-guide-of-sorts) `src/base/ids.h` `./dev test`\n"
                          "`--timeout 5m` `bawn run -q --timeout 5m -- make --weird` <https://x.y>\n"
                          "[web](https://example.com/x) `bawn diff NAME --digest` `git diff --stat`\n"
                          "```sh\nbawn run make --weird   # --comment\n"
                          "bawn run --timeout=5m -- x \"$(bawn diff --digest)\"\n```\n")

    def test_dead_link(self):
        self.assert_one("\n[a](docs/gone.md)\n", 2, "leads nowhere")

    def test_link_out_of_the_tree(self):
        self.assert_one("[a](../x.md)\n", 1, "leads nowhere")

    def test_missing_heading(self):
        self.assert_one("[a](docs/guide.md#other)\n", 1, "no heading")

    def test_missing_path_in_a_span_and_in_a_fence(self):
        self.assert_one("`src/base/gone.h`\n", 1, "does not exist")
        self.assert_one("```sh\ncat src/base/gone.h\n```\n", 2, "does not exist")

    def test_unknown_option_of_a_command(self):
        self.assert_one("`bawn run --timeuot 5m -- x`\n", 1, "no option --timeuot")
        self.assert_one("```sh\nbawn diff --quiet\n```\n", 2, "no option --quiet")
        self.assert_one("```sh\nx \"$(bawn diff --digset)\"\n```\n", 2, "no option --digset")

    def test_span_over_two_lines(self):
        self.assert_one("so `bawn run\n--timeuot 5m`\n", 1, "no option --timeuot")

    def test_option_alone(self):
        self.assert_one("with `--digset` only\n", 1, "--digset")

    def test_unknown_command(self):
        self.assert_one("`bawn pubish`\n", 1, "no command pubish")

    def test_a_tree_without_documents_is_a_complaint(self):
        (self.tree / "docs/guide.md").unlink()
        self.assertEqual(check_docs.check(self.tree), ["no documents"])


if __name__ == "__main__":
    unittest.main()
