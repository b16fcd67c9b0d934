"""Public fractional pools, as layers over the ops of ``ops.fractional_pool``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base.docstrings import named
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor

_Pooled = tuple[Tensor, Tensor, Tensor]


def _fractional(kind: str, doc: str) -> Callable[..., _Pooled]:
    @named(f"fractional_{kind.lower()}_pool", doc)
    def pool(
        value: Any,
        pooling_ratio: Any,
        pseudo_random: bool = False,
        overlapping: bool = False,
        deterministic: bool = False,
        seed: int = 0,
        seed2: int = 0,
        name: str | None = None,
    ) -> _Pooled:
        made: _Pooled = make(
            f"Fractional{kind}Pool", value, name=name, pooling_ratio=pooling_ratio,
            pseudo_random=pseudo_random, overlapping=overlapping, deterministic=deterministic,
            seed=seed, seed2=seed2,
        )  # fmt: skip
        return made

    return pool


fractional_max_pool = _fractional(
    "Max",
    """The largest value in windows of random sizes, whose mean size is ``pooling_ratio``.

    Args:
      value: ``[batch, height, width, channels]``.
      pooling_ratio: list of 4 numbers of at least 1, the first and last of them 1.
      pseudo_random: whether the windows' ends are those of a random regular grid, else any.
      overlapping: whether neighbouring windows share a row or column.
      deterministic: whether every run has the same windows.
      seed: seed of the windows, for deterministic ones; 0 with ``seed2`` 0 for windows that nobody
        can repeat in another session.
      seed2: second seed.

    Returns:
      The pooled images, and the starts of the windows along height and width.
    """,
)
fractional_avg_pool = _fractional(
    "Avg", "The mean of windows of random sizes; arguments as of ``fractional_max_pool``."
)
