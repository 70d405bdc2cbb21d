"""Runs jupyter_kernel_test's tests against the kernelspec "under-test" with the samples in $KERNEL_SAMPLES (JSON, an
attribute of the test classes to its value) and prints a line of JSON: the result of each test."""

import json
import os
import sys
import unittest

import jupyter_kernel_test

samples = json.loads(os.environ["KERNEL_SAMPLES"])


class Kernel(jupyter_kernel_test.KernelTests):
    kernel_name = "under-test"


class Welcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "under-test"
    support_iopub_welcome = True


for name, value in samples.items():
    if not hasattr(Kernel, name):
        sys.exit(f"jupyter_kernel_test has no attribute {name}")
    setattr(Kernel, name, value)


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.outcome = {}

    def note(self, test, text):
        name = getattr(test, "test_case", test)._testMethodName if hasattr(test, "_testMethodName") or hasattr(test, "test_case") else str(test)
        self.outcome[name] = self.outcome.get(name, "") + text

    def startTest(self, test):
        super().startTest(test)
        self.note(test, "")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, self.errors[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped: " + reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, f"{subtest}: {self._exc_info_to_string(err, test)}")


loader = unittest.TestLoader()
result = Result()
unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Kernel, Welcome)).run(result)
print(json.dumps(result.outcome))
