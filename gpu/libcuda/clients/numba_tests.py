"""Runs numba-cuda's own tests, which its wheel ships, on the CUDA driver that is there, and counts what passes.
usage: numba_tests.py [MODULE …]    without one: the fixed choice of continuous integration. Ends with 1 where less than 97 % pass."""
import json
import os
import subprocess
import sys

import pytest

LEAST = 0.97
CHOICE = """cudapy.test_array cudapy.test_operator cudapy.test_print cudapy.test_reduction cudapy.test_slicing cudapy.test_sm cudapy.test_sync
cudapy.test_warp_ops cudadrv.test_cuda_memory cudadrv.test_cuda_ndarray cudadrv.test_events cudadrv.test_host_alloc cudadrv.test_linker
cudadrv.test_pinned cudadrv.test_streams""".split()


class Counter:
    """What became of the tests, and a fixture that the repository of numba-cuda has and its wheel lacks."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], 0

    @pytest.fixture(scope="class")
    def initialize_from_pytest_config(self, request):
        request.cls._dump_failed_filechecks = False

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.skipped += 1
        elif report.failed:
            text = str(report.longrepr).strip().splitlines()
            self.failed.append("%s: %s" % (report.nodeid.split("::", 1)[-1], text[-1][:160] if text else ""))
        elif report.when == "call":
            self.passed += 1


def one(module):
    """Runs a module's tests in this process and prints what became of them as JSON, on the last line."""
    counter = Counter()
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", "--timeout", "240", "-o", "consider_namespace_packages=true", "--tb=short", "--pyargs",
                 "numba.cuda.tests." + module], plugins=[counter])
    print(json.dumps([counter.passed, counter.failed, counter.skipped]))


def main(modules):
    """Runs each module in a process of its own: a fault costs a context, as on a GPU, and must not cost other tests."""
    passed, failed, skipped = 0, [], 0
    for module in modules:
        ran = subprocess.run([sys.executable, os.path.abspath(__file__), "--one", module], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = ran.stdout.strip().splitlines() or [""]
        try:
            p, f, s = json.loads(lines[-1])
        except ValueError:
            p, f, s = 0, ["%s: ended with %d: %s" % (module, ran.returncode, lines[-1])], 0
        if not p + len(f) + s:
            f = [module + ": no tests ran"]
        passed, failed, skipped = passed + p, failed + f, skipped + s
        print("%s: %d passed, %d failed, %d skipped" % (module, p, len(f), s), flush=True)
    total = passed + len(failed)
    print("numba-cuda: %d of %d passed, %d skipped" % (passed, total, skipped))
    for failure in failed:
        print("  failed:", failure)
    return passed < LEAST * total


if sys.argv[1:2] == ["--one"]:
    one(sys.argv[2])
else:
    sys.exit(main(sys.argv[1:] or CHOICE))
