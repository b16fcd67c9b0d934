"""Memory that is freed is used again, as the pages that are faulted in show."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import torch
import penstock as tf
from penstock.engine.runtime import memory

memory.keep_freed_memory()
faults = []

def take():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.empty(100_000_000, dtype=torch.uint8).fill_(1)
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

for _ in range(20):
    take()
# A hole of just the size is too small for an aligned block: not every block is found again.
print(sorted(faults)[len(faults) // 2])
"""


@pytest.mark.long
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked to keep memory")
@pytest.mark.parametrize("keep", ["1", pytest.param("0", marks=pytest.mark.long)])
def test_large_blocks_are_kept(keep: str) -> None:
    pages = 100_000_000 / os.sysconf("SC_PAGE_SIZE")
    if keep == "1":
        # In about one process of 80 no block is found again, for a reason that is not known.
        assert min(_faults(keep), _faults(keep)) < 0.05 * pages
    else:
        # So the other case shows something.
        assert _faults(keep) > 0.05 * pages


def _faults(keep: str) -> int:
    environment = {**os.environ, "PENSTOCK_KEEP_MEMORY": keep, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)
