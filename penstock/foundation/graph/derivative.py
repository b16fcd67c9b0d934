"""Differentiating nodes from inside a gradient function.

The second derivative of a large op is sometimes best said as "write the first derivative out in
nodes, and differentiate those".  Op families may not import ``autodiff``, which stands above them;
it registers its ``gradients`` here when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph.tensor import Tensor

Differentiate = Callable[..., Any]
_registered: list[Differentiate] = []


def register(function: Differentiate) -> None:
    """Makes ``function(ys, xs, grad_ys)`` the one that ``differentiate`` calls."""
    _registered[:] = [function]


def differentiate(
    ys: Sequence[Tensor], xs: Sequence[Tensor], grad_ys: Sequence[Tensor | None]
) -> list[Tensor | None]:
    """Gradients of ``ys``, weighted by ``grad_ys``, with respect to ``xs``, as nodes.

    Raises:
      RuntimeError: ``autodiff`` was not imported, so that nobody asks for gradients.
    """
    if not _registered:
        raise RuntimeError(
            "no differentiation is registered; import penstock.library.autodiff.gradients"
        )
    made: list[Tensor | None] = _registered[0](list(ys), list(xs), list(grad_ys))
    return made
