"""Instruction sets by their usual names, from the flags that an operating system lists.

Linux names a flag for each feature bit; the rows here are those that decide which kernels torch,
oneDNN and MKL choose, in the order in which the field lists them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

# Usual name to the flags that must all be there, of x86 (``flags``) and ARM (``Features``).
_X86 = {
    "SSE4.2": ("sse4_2",),
    "AVX": ("avx",),
    "F16C": ("f16c",),
    "FMA": ("fma",),
    "AVX2": ("avx2",),
    "AVX-VNNI": ("avx_vnni",),
    "AVX-512F": ("avx512f",),
    "AVX-512CD": ("avx512cd",),
    "AVX-512BW": ("avx512bw",),
    "AVX-512DQ": ("avx512dq",),
    "AVX-512VL": ("avx512vl",),
    "AVX-512VNNI": ("avx512_vnni",),
    "AVX-512BF16": ("avx512_bf16",),
    "AVX-512FP16": ("avx512_fp16",),
    "AVX10.1": ("avx10_1",),
    "AVX10.2": ("avx10_2",),
    "AMX-INT8": ("amx_tile", "amx_int8"),
    "AMX-BF16": ("amx_tile", "amx_bf16"),
    "AMX-FP16": ("amx_tile", "amx_fp16"),
}
_ARM = {
    "NEON": ("asimd",),
    "FP16": ("fphp", "asimdhp"),
    "DotProd": ("asimddp",),
    "I8MM": ("i8mm",),
    "BF16": ("bf16",),
    "SVE": ("sve",),
    "SVE2": ("sve2",),
    "SME": ("sme",),
}
# The flag's name on 32-bit ARM.
_ARM_32 = {"NEON": ("neon",)}
# What ATen asks for before it uses its kernels of that name, best first.
_CAPABILITIES = {
    "AVX512": ("AVX-512F", "AVX-512BW", "AVX-512DQ", "AVX-512VL", "FMA"),
    "AVX2": ("AVX2", "FMA"),
}


def x86_sets(flags: Collection[str]) -> tuple[str, ...]:
    """The instruction sets of an x86 processor with these flags.

    >>> x86_sets("fpu sse4_2 avx fma avx2 avx512f".split())
    ('SSE4.2', 'AVX', 'FMA', 'AVX2', 'AVX-512F')
    """
    return _named(_X86, flags)


def arm_sets(features: Collection[str]) -> tuple[str, ...]:
    """The instruction sets of an ARM processor with these features.

    >>> arm_sets("fp asimd asimdhp fphp sve".split())
    ('NEON', 'FP16', 'SVE')
    """
    return _named(_ARM, features) or _named(_ARM_32, features)


def _named(table: Mapping[str, tuple[str, ...]], flags: Collection[str]) -> tuple[str, ...]:
    there = set(flags)
    return tuple(name for name, needed in table.items() if there.issuperset(needed))


def capability(sets: Collection[str]) -> str | None:
    """What torch calls the best kernels that an x86 processor can run; None for other processors.

    >>> capability(["SSE4.2", "FMA", "AVX2"]), capability(["SSE4.2"]), capability(["NEON"])
    ('AVX2', 'DEFAULT', None)
    """
    there = set(sets)
    if not there & set(_X86):
        return None
    for name, needed in _CAPABILITIES.items():
        if there.issuperset(needed):
            return name
    return "DEFAULT"
