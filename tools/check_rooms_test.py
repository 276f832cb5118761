#!/usr/bin/env python3
"""tools/check_rooms.py finds each kind of violation when one is planted, and nothing else."""
import tempfile
import unittest
from pathlib import Path

import check_rooms

RULES = """
room base:
room sys: base
room policy: base
room policy/read: base policy
room bin: *
lib linux/: sys
lib yaml-cpp/: policy/read
"""


class CheckRoomsTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.tree = Path(self.temporary.name)
        self.write("src/rooms.txt", RULES)
        self.write("src/base/ids.h", "// ids\n")
        self.write("src/sys/files.h", '#include "base/ids.h"\n#include <linux/fs.h>\n')
        self.write("src/policy/policy.h", '#include "base/ids.h"\n')
        self.write("src/policy/read/yaml.cc", '#include <yaml-cpp/eventhandler.h>\n'
                                              '#include "policy/policy.h"\n')
        self.write("src/bin/bawn.cc", '#include "sys/files.h"\n#include "policy/policy.h"\n')

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def assert_one(self, place, part):
        complaints = check_rooms.check(self.tree)
        self.assertEqual(len(complaints), 1, complaints)
        self.assertIn(place, complaints[0])
        self.assertIn(part, complaints[0])

    def test_allowed_includes_give_no_complaint(self):
        self.assertEqual(check_rooms.check(self.tree), [])

    def test_include_of_a_room_that_is_not_listed(self):
        self.write("src/base/text.cc", '\n#include "sys/files.h"\n')
        self.assert_one("src/base/text.cc:2:", "room base may not include")

    def test_include_of_a_header_that_does_not_exist(self):
        self.write("src/sys/x.cc", '#include "base/gone.h"\n')
        self.assert_one("src/sys/x.cc:1:", "does not exist")

    def test_include_without_a_room(self):
        self.write("src/sys/x.cc", '#include "files.h"\n')
        self.assert_one("src/sys/x.cc:1:", "in no room")

    def test_generated_header_of_the_same_room(self):
        self.write("src/sys/x.cc", '#include "table_text.h"\n')
        self.assert_one("src/sys/x.cc:1:", "in no room")
        self.write("src/sys/CMakeLists.txt", "add_custom_command(OUTPUT table_text.h)\n")
        self.assertEqual(check_rooms.check(self.tree), [])

    def test_library_in_the_wrong_room(self):
        self.write("src/policy/x.cc", "#include <yaml-cpp/yaml.h>\n")
        self.assert_one("src/policy/x.cc:1:", "<yaml-cpp/yaml.h> is for policy/read only")

    def test_kernel_header_in_the_wrong_room_but_not_in_a_test(self):
        self.write("src/policy/x_test.cc", "#include <linux/fs.h>\n")
        self.assertEqual(check_rooms.check(self.tree), [])
        self.write("src/policy/x.cc", "#include <linux/fs.h>\n")
        self.assert_one("src/policy/x.cc:1:", "for sys only")

    def test_file_outside_of_every_room(self):
        self.write("src/attic/x.cc", "\n")
        self.assert_one("src/attic/x.cc:1:", "in no room")

    def test_linked_room_that_is_not_listed(self):
        self.write("src/policy/CMakeLists.txt",
                   "bawn_room(policy\n  SOURCES a.cc\n  DEPS base sys\n  LIBS git2)\n")
        self.assert_one("src/policy/CMakeLists.txt:1:", "may not link sys")

    def test_rules_that_do_not_parse(self):
        self.write("src/rooms.txt", RULES + "romo x: base\n")
        self.assert_one("src/rooms.txt:9:", "neither")

    def test_rules_that_list_an_unknown_room(self):
        self.write("src/rooms.txt", RULES + "room wire: bsae\n")
        self.assert_one("src/rooms.txt:1:", "'bsae', which is no room")


if __name__ == "__main__":
    unittest.main()
