"""Random numbers with parameters for each element: gamma and Poisson distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.engine.resources import stream
from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, broadcast
from penstock.ops.array import fill, join, nodes, ranges, reshape, shape
from penstock.ops.math import reduction
from penstock.ops.random.random import INDEX, SEEDS, seeds


def _gamma(shape: Any, alpha: torch.Tensor, state: stream.Stream) -> torch.Tensor:
    wide = alpha.float() if alpha.dtype is torch.float16 else alpha
    full = wide.expand([*shape, *alpha.shape]).contiguous()
    draw = torch._standard_gamma(full, generator=state.generator)
    return draw if draw.dtype is alpha.dtype else draw.to(alpha.dtype)


def _gamma_grad(alpha: torch.Tensor, sample: torch.Tensor) -> torch.Tensor:
    both = torch.broadcast_tensors(alpha, sample)
    return torch._standard_gamma_grad(both[0].contiguous(), both[1].contiguous())


def _poisson(
    shape: Any, rate: torch.Tensor, dtype: torch.dtype, state: stream.Stream
) -> torch.Tensor:
    full = rate.double().expand([*shape, *rate.shape]).contiguous()
    # TensorFlow draws 0 where the rate is negative.
    return torch.poisson(full.clamp_min(0), generator=state.generator).to(dtype)


def _with(name: str) -> Any:
    def rule(ctx: ShapeContext) -> Any:
        outer, inner = ctx.shape_value("shape"), ctx[name]
        return None if outer is None or inner is None else (*outer, *inner)

    return rule


def _random_gamma_grad(op: Any, grad: Tensor) -> tuple[None, Tensor]:
    """The sample is a smooth function of alpha once its randomness is held fixed."""
    sizes, alpha = op.inputs
    with control_dependencies([grad]):
        count = shape.shape(sizes)[0]
        ones = fill.ones([count], dtype=dtypes.int32)
        unit = join.concat([ones, shape.shape(alpha)], axis=0)
        partial = make("RandomGammaGrad", reshape.reshape(alpha, unit), op.outputs[0])
        return None, reduction.reduce_sum(grad * partial, axis=ranges.range_(count))


define_op(
    "RandomGamma",
    "shape: S, alpha: T -> output: T",
    attrs=[*SEEDS, f"S: {INDEX}", "T: {half, float, double}"],
    shape=_with("alpha"),
    kernel=_gamma,
    host=("shape",),
    gradient=_random_gamma_grad,
    state=stream.of_op,
    random=True,
    stateful=True,
)

define_op(
    "RandomGammaGrad",
    "alpha: T, sample: T -> output: T",
    attrs=["T: {float, double}"],
    shape=broadcast,
    kernel=_gamma_grad,
    no_gradient="TensorFlow defines none",
)

define_op(
    "RandomPoisson",
    "shape: S, rate: dtype -> output: dtype",
    attrs=[*SEEDS, f"S: {INDEX}", "dtype: {half, float, double}"],
    shape=_with("rate"),
    kernel=_poisson,
    host=("shape",),
    no_gradient="counts do not change smoothly with the rate",
    state=stream.of_op,
    random=True,
    stateful=True,
)

define_op(
    "RandomPoissonV2",
    "shape: S, rate: R -> output: dtype",
    attrs=[
        *SEEDS,
        f"S: {INDEX}",
        "R: {half, float, double, int32, int64} = double",
        "dtype: {half, float, double, int32, int64} = int64",
    ],
    shape=_with("rate"),
    kernel=_poisson,
    host=("shape",),
    no_gradient="counts do not change smoothly with the rate",
    state=stream.of_op,
    random=True,
    stateful=True,
)


# ---- public functions ------------------------------------------------------------------------


def random_gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers drawn from gamma distributions; differentiable in ``alpha`` and ``beta``.

    Args:
      shape: how many to draw for each parameter.
      alpha: shape parameters.
      beta: rates, broadcast with ``alpha``; 1 by default.
      dtype: half, float32 or float64.
      seed: op-level seed.

    Returns:
      A tensor of shape ``shape + shape(alpha + beta)``.
    """
    wanted = dtypes.as_dtype(dtype)
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        sizes = convert_to_tensor(shape, dtypes.int32, name="shape")
        alpha = convert_to_tensor(alpha, wanted, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, wanted, name="beta")
        full = alpha + nodes.zeros_like(beta)
        tiny = np.finfo(wanted.as_numpy_dtype).tiny
        draw = make("RandomGamma", sizes, full, **seeds(seed))
        return make("Maximum", tiny, draw / beta)


def random_poisson(
    lam: Any,
    shape: Any,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Counts drawn from Poisson distributions.

    Args:
      lam: rates.
      shape: how many to draw for each rate.
      dtype: half, float32, float64, int32 or int64.
      seed: op-level seed.

    Returns:
      A tensor of shape ``shape + shape(lam)``.
    """
    with name_scope(name, "random_poisson", [lam, shape]):
        sizes = convert_to_tensor(shape, dtypes.int32, name="shape")
        given = seeds(seed)
        return make("RandomPoissonV2", sizes, lam, dtype=dtypes.as_dtype(dtype), **given)
