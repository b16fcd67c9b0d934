"""Names of instruction sets, and the kernels that torch would choose for them."""

from __future__ import annotations

import sys

import pytest
import torch

from penstock.foundation.machine import hardware
from penstock.foundation.machine.instructions import arm_sets, capability, x86_sets
from tests.foundation.machine.made_up import AVX512, ZEN2


def test_amx_needs_its_tiles() -> None:
    assert "AMX-BF16" not in x86_sets(["amx_bf16"])
    assert "AMX-BF16" in x86_sets(["amx_bf16", "amx_tile"])


def test_32_bit_arm() -> None:
    assert arm_sets("half thumb neon vfpv4".split()) == ("NEON",)
    assert arm_sets([]) == ()


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        (AVX512, "AVX512"),
        (ZEN2, "AVX2"),
        ("sse4_2 avx", "DEFAULT"),
        ("sse4_2 avx avx2", "DEFAULT"),  # some hypervisors hide FMA
        (f"{ZEN2} avx512f avx512cd", "AVX2"),  # Xeon Phi: neither BW, DQ nor VL
    ],
)
def test_capability(flags: str, name: str) -> None:
    assert capability(x86_sets(flags.split())) == name


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/cpuinfo")
def test_torch_chooses_what_is_offered_here() -> None:
    offered = capability(hardware.processor().instruction_sets)
    if offered is None or hardware.lowering():
        pytest.skip("no x86 processor, or the environment holds torch back")
    assert torch.backends.cpu.get_cpu_capability() == offered
