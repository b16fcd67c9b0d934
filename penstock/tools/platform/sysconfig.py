"""How C++ for Penstock is compiled: its kernels are torch's, and so are headers and libraries."""

from __future__ import annotations

import os

import torch

from penstock.tools.platform.versions import CXX11_ABI_FLAG, MONOLITHIC_BUILD

__all__ = [
    "CXX11_ABI_FLAG", "MONOLITHIC_BUILD", "get_compile_flags", "get_include", "get_lib",
    "get_link_flags",
]  # fmt: skip

_TORCH = os.path.dirname(os.path.abspath(torch.__file__))


def get_include() -> str:
    """The folder of the C++ headers: torch's."""
    return os.path.join(_TORCH, "include")


def get_lib() -> str:
    """The folder of the libraries of kernels: torch's."""
    return os.path.join(_TORCH, "lib")


def get_compile_flags() -> list[str]:
    """Flags that compile C++ against these headers."""
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}"]


def get_link_flags() -> list[str]:
    """Flags that link to these libraries."""
    return [f"-L{get_lib()}", "-ltorch", "-lc10"]
