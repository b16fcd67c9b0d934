"""Versions: of the API, of the GraphDefs that it reads and writes, and of what it was built with.

``VERSION`` is that of TensorFlow whose API this is, so that programs which ask for a version find
the one that they are written for; Penstock's own is ``penstock.__version__``. There is no C++ of
its own: the compiler is the one of the running Python.
"""

from __future__ import annotations

import platform

import torch

VERSION = "1.15.0"
GIT_VERSION = "penstock"
COMPILER_VERSION = platform.python_compiler()
# What GraphDefs say of who writes and who may read them, as TensorFlow 1.15 does.
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
# C++ for Penstock is C++ for torch, which is not linked into one library.
CXX11_ABI_FLAG = int(torch.compiled_with_cxx11_abi())
MONOLITHIC_BUILD = 0
