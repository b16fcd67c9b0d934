"""Runs one test file of a package, under Penstock or TensorFlow 1.15, and says how each test ended.

``python own_tests.py FOLDER FILE RESULTS``: a process of its own for each file, because flags,
default graphs and eager mode are the process's.  It is a program for Python 3.7 as well, so it
imports nothing of Penstock's tests.  Results are written after each test: a process that dies
or takes too long leaves what it had, and the names of the tests that it never came to.
"""

import importlib
import json
import os
import re
import sys
import traceback
import unittest
import warnings

WAITS, BEGAN = "did not begin", "did not end"


class Results(unittest.TestResult):
    """Keeps test -> how it ended, in a file."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.ends = {}

    def keep(self, test, end):
        """Notes an end; a subtest's failure is its test's."""
        name = _name(test)
        if name.endswith(".test_session"):  # TensorFlow's, which is named like a test and is none
            return
        if self.ends.get(name, WAITS).startswith((WAITS, BEGAN, "passed")):
            self.ends[name] = end
        self.write()

    def wait(self, suite):
        """Notes the tests of a suite before any has begun."""
        for test in suite:
            if isinstance(test, unittest.TestSuite):
                self.wait(test)
            elif not _name(test).endswith(".test_session"):
                self.ends[_name(test)] = WAITS

    def write(self):
        """Puts what is known into the file, whole at any time."""
        with open(self.path + ".part", "w") as file:
            json.dump(self.ends, file)
        os.replace(self.path + ".part", self.path)

    def startTest(self, test):
        super().startTest(test)
        self.keep(test, BEGAN)

    def addSuccess(self, test):
        self.keep(test, "passed")

    def addSkip(self, test, reason):
        self.keep(test, "skipped: " + reason)

    def addExpectedFailure(self, test, err):
        self.keep(test, "passed")

    def addUnexpectedSuccess(self, test):
        self.keep(test, "failed: an unexpected success")

    def addFailure(self, test, err):
        self.keep(test, "failed: " + _line(err[1]))

    def addError(self, test, err):
        self.keep(test, "failed: " + _line(err[1]))
        if os.environ.get("TRACEBACKS"):
            traceback.print_exception(*err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addError(test, err)


def _name(test):
    # Parameters may be functions, whose addresses are of one process.
    return re.sub(" at 0x[0-9a-f]+", "", ".".join(test.id().split(".")[-2:]))


def _line(error):
    return "{}: {}".format(type(error).__name__, str(error).strip().split("\n")[0][:200])


def _parse_flags():
    """absl's flags at their defaults, where the package uses them."""
    flags = sys.modules.get("absl.flags")
    if flags is not None:
        flags.FLAGS(sys.argv[:1], known_only=True)


def main(folder, file, path):
    """Runs a file's tests."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, folder)
    os.chdir(folder)
    results = Results(path)
    try:
        module = importlib.import_module(os.path.splitext(file)[0].replace(os.sep, "."))
    except Exception as error:
        traceback.print_exc()
        results.ends["import"] = "failed: " + _line(error)
        results.write()
        return
    _parse_flags()
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    results.wait(suite)
    suite.run(results)
    results.write()


if __name__ == "__main__":
    import tensorflow  # noqa: F401  (Penstock's stand-in must be there before the package asks)

    main(*sys.argv[1:])
