"""Memory that is free goes back to the machine."""

import platform
import subprocess
import sys

import pytest

FREED = """
import numpy as np
from rbdgen.system.workers import hand_back

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

arrays = [np.ones(10_000) for _ in range(2000)]  # 160 MB, in pieces that the C library keeps
last = arrays.pop()
del arrays
before = resident()
hand_back()
print(before - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such call")
def test_free_pieces_below_one_in_use_go_back() -> None:
    done = subprocess.run([sys.executable, "-c", FREED], check=True, capture_output=True, text=True)
    assert int(done.stdout) > 100e6
