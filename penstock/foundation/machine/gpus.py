"""The GPUs that the operating system shows, whether or not torch can use them."""

from __future__ import annotations

import re
from pathlib import Path

from penstock.foundation.machine import proc


def gpus(root: Path = proc.ROOT) -> tuple[str, ...]:
    """A name for each NVIDIA GPU that has a driver here, and one if AMD's compute driver is here.

    Args:
      root: where ``proc`` and ``dev`` are.
    """
    found = []
    for path in sorted(root.glob("proc/driver/nvidia/gpus/*/information")):
        named = re.search(r"^Model:\s*(\S.*)$", proc.text(path), re.M)
        found.append(named[1].strip() if named else "NVIDIA GPU")
    if not found:  # in a container, only the devices
        devices = (path.name for path in root.glob("dev/nvidia*"))
        found = ["NVIDIA GPU" for name in devices if re.fullmatch("nvidia[0-9]+", name)]
    if (root / "dev/kfd").exists():
        found.append("AMD GPU")
    return tuple(found)
