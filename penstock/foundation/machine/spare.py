"""Whether a machine can spare what compiling takes: a core, for half a minute or more, and memory.

The compiling process runs when nothing else wants its core.  That is no help where a cgroup counts
the time of all cores together: there the time that it takes is the step's, unless some is left.
"""

from __future__ import annotations

import os
import time

from penstock.foundation.machine import hardware

# Torch's compiler takes 0.45 GB, and g++ as much while the other waits; of that twice.
MEMORY = 2 << 30
_START = time.monotonic(), sum(os.times()[:2])


def why_not_now(asked: bool) -> str:
    """What is lacking at the moment; empty where there is enough.

    Args:
      asked: whether somebody has asked for native forms: then memory alone counts.
    """
    return lacking(hardware.memory(), hardware.cores(), own_use(), asked)


def lacking(
    memory: hardware.Memory, cores: hardware.Cores, used: float, asked: bool = False
) -> str:
    """The same of a machine with this memory and these cores, ``used`` of them by this process."""
    if memory.available is not None and memory.available < MEMORY:
        return f"{memory.available >> 20} MiB of memory are left, {MEMORY >> 20} are needed"
    if asked:
        return ""
    if cores.usable < 2:
        return "there is one core"
    if cores.quota is not None and cores.quota - used < 1:
        return f"this process uses {used:.1f} of the {cores.quota:g} cores that its cgroup allows"
    return ""


def own_use() -> float:
    """The cores that this process has used, on average."""
    begin, used = _START
    return (sum(os.times()[:2]) - used) / max(time.monotonic() - begin, 1e-3)
