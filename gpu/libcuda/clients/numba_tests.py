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


# Tests that fail, and why. Each runs in a process of its own: a fault costs the context, and with it every test after it.
EXPLAINED = {
    "cudapy.test_dispatcher": {"test_dispatcher_cpointer_arguments": "it reads 16 elements of arrays of 10, which a GPU does not see and the virtual one does"},
    "cudadrv.test_cuda_driver": {"test_device_arch_specific": "it changes a tensor map, of 128 B, in 4 B of shared memory, which a GPU does not see and the virtual one does"},
    "cudapy.test_caching": {
        "test_cpu_and_cuda_reuse": "the CPU's entry of numba's cache is thrown away, as it is of another version than numba-cuda's; no GPU takes part",
        "test_cpu_and_cuda_targets": "the CPU's entry of numba's cache is thrown away, as it is of another version than numba-cuda's; no GPU takes part",
    },
}


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


def one(module, only=""):
    """Runs a module's tests in this process, or one that is explained, and prints what became of them as JSON, on the last line."""
    chosen = only or " and ".join("not " + name for name in EXPLAINED.get(module, ()))
    counter = Counter()
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", "--timeout", "240", "-o", "consider_namespace_packages=true", "--tb=short", "-k", chosen, "--pyargs",
                 "numba.cuda.tests." + module], plugins=[counter])
    print(json.dumps([counter.passed, counter.failed, counter.skipped]))


def main(modules):
    """Runs each module in a process of its own: a fault costs a context, as on a GPU, and must not cost other tests."""
    passed, failed, skipped = 0, [], 0
    for module, only in [(m, test) for m in modules for test in ["", *EXPLAINED.get(m, ())]]:
        ran = subprocess.run([sys.executable, os.path.abspath(__file__), "--one", module, only], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = ran.stdout.strip().splitlines() or [""]
        try:
            p, f, s = json.loads(lines[-1])
        except ValueError:
            p, f, s = 0, ["%s: ended with %d: %s" % (module, ran.returncode, lines[-1])], 0
        if not p + len(f) + s:
            f = [module + ": no tests ran"]
        if only:
            f = ["%s (explained: %s)" % (failure, EXPLAINED[module][only]) for failure in f]
        passed, failed, skipped = passed + p, failed + f, skipped + s
        print("%s: %d passed, %d failed, %d skipped" % (only or module, p, len(f), s), flush=True)
    total = passed + len(failed)
    print("numba-cuda: %d of %d passed, %d skipped" % (passed, total, skipped))
    for failure in failed:
        print("  failed:", failure)
    return passed < LEAST * total


if sys.argv[1:2] == ["--one"]:
    one(*sys.argv[2:])
else:
    sys.exit(main(sys.argv[1:] or CHOICE))
