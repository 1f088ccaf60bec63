# SPDX-License-Identifier: MIT
"""Runs the unittest cases of the calling file and prints TAP."""
import sys
import traceback
import unittest


class _Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.count = 0

    def _line(self, ok, test, tail="", text=""):
        self.count += 1
        print(f"{'ok' if ok else 'not ok'} {self.count} - {test.id().removeprefix('__main__.')}{tail}")
        for line in text.splitlines():
            print("# " + line)
        sys.stdout.flush()

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line(True, test)

    def addError(self, test, err):
        super().addError(test, err)
        self._line(False, test, text="".join(traceback.format_exception(*err)))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._line(False, test, text="".join(traceback.format_exception(*err)))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line(True, test, f" # SKIP {reason}")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._line(False, subtest, text="".join(traceback.format_exception(*err)))


def main():
    loader = unittest.TestLoader()
    names = sys.argv[1:]
    module = sys.modules["__main__"]
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    result = _Result()
    print(f"1..{suite.countTestCases()}")
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
