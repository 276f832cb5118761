"""The test harness: Python's standard library only, as Debian 12 has it (3.11)."""
