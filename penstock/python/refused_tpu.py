"""What a program can import and not use: parts of TensorFlow that talk to TPUs.

What libraries name at the top of their modules (bases, tuples of classes, decorators) is here, so
that their other parts work; it says so when one is made, and so does every other name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.python.refused import Refused

# What is said of a name that such a module would have.
WHY = "talks to TPUs, and Penstock runs on CPUs and GPUs"


class _Refused(Refused):
    """A part of what talks to TPUs."""

    why = WHY


class _TPUEmbeddingColumn(_Refused):
    """A column whose embeddings are on a TPU."""


class _TPUSharedEmbeddingColumn(_Refused):
    """A column whose embeddings are on a TPU, and of others too."""


class _TPUEmbeddingColumnV2(_Refused):
    """A column whose embeddings are on a TPU."""


class _TPUSharedEmbeddingColumnV2(_Refused):
    """A column whose embeddings are on a TPU, and of others too."""


class AdagradParameters(_Refused):
    """How a TPU trains its embeddings."""


class AdamParameters(_Refused):
    """How a TPU trains its embeddings."""


class StochasticGradientDescentParameters(_Refused):
    """How a TPU trains its embeddings."""


class XLAControlFlowContext(_Refused):
    """The context of nodes that are compiled for a TPU."""


class CompilationResultProto(_Refused):
    """What compiling for a TPU has said."""


class TPUClusterResolver(_Refused):
    """Where a TPU's workers are."""


def is_running_in_gce() -> bool:
    """Whether TPUs could be near: they are not."""
    return False


def on_device_training_loop(func: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a training loop that runs on a TPU; it is returned as it is."""
    return func
