"""Runs numba-cuda's own tests, which its wheel ships, on the CUDA driver that is there, and counts what passes.
usage: numba_tests.py [MODULE …]    without one: the fixed choice of continuous integration. Ends with 1 where less than 97 % pass."""
import os
import sys

import pytest

LEAST = 0.97
CHOICE = """cudapy.test_array cudapy.test_atomics cudapy.test_blackscholes cudapy.test_boolean cudapy.test_complex cudapy.test_const_string
cudapy.test_datetime cudapy.test_dispatcher cudapy.test_errors cudapy.test_exception cudapy.test_fastmath cudapy.test_forall cudapy.test_gufunc
cudapy.test_lang cudapy.test_localmem cudapy.test_matmul cudapy.test_multithreads cudapy.test_operator cudapy.test_print cudapy.test_record_dtype
cudapy.test_reduction cudapy.test_slicing cudapy.test_sm cudapy.test_sync cudapy.test_vectorize cudapy.test_warp_ops
cudadrv.test_array_attr cudadrv.test_context_stack cudadrv.test_cuda_array_slicing cudadrv.test_cuda_auto_context cudadrv.test_cuda_devicerecord
cudadrv.test_cuda_memory cudadrv.test_cuda_ndarray cudadrv.test_deallocations cudadrv.test_detect cudadrv.test_events cudadrv.test_host_alloc
cudadrv.test_linker cudadrv.test_managed_alloc cudadrv.test_module_callbacks cudadrv.test_pinned cudadrv.test_profiler cudadrv.test_select_device
cudadrv.test_streams""".split()


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


counter = Counter()
modules = sys.argv[1:] or CHOICE
os.chdir(os.path.dirname(os.path.abspath(__file__)))
pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", "--timeout", "240", "-o", "consider_namespace_packages=true", "--tb=short", "--pyargs"]
            + ["numba.cuda.tests." + m for m in modules], plugins=[counter])
total = counter.passed + len(counter.failed)
print("numba-cuda: %d of %d passed, %d skipped" % (counter.passed, total, counter.skipped))
for failure in counter.failed:
    print("  failed:", failure)
sys.exit(total == 0 or counter.passed < LEAST * total)
