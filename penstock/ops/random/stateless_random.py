"""Stateless random ops: their seed is an input, so they are functions of their inputs.

Each run draws from a stream that the two seeds make anew.  The numbers are not the ones that
TensorFlow draws for the same seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from penstock.engine.resources import stream
from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import documented_as, named
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext
from penstock.ops.random.random import (
    FLOATS,
    INDEX,
    NO_INPUTS,
    NUMBERS,
    bounds,
    categorical,
    categorical_draw,
    integers,
    multinomial,
    per_row,
    random_normal,
    random_uniform,
    scaled,
    shape_tensor,
    truncated,
    truncated_normal,
    uniform_type,
)


def _seeded(seed: list[int]) -> torch.Generator:
    return stream.generator_of(*seed)


def _stateless_uniform(shape: Any, seed: list[int], dtype: torch.dtype) -> torch.Tensor:
    return torch.rand(shape, generator=_seeded(seed), dtype=dtype)


def _stateless_normal(shape: Any, seed: list[int], dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape, generator=_seeded(seed), dtype=dtype)


def _stateless_truncated(shape: Any, seed: list[int], dtype: torch.dtype) -> torch.Tensor:
    return truncated(shape, dtype, _seeded(seed))


def _stateless_int(
    shape: Any, seed: list[int], minval: int, maxval: int, dtype: torch.dtype
) -> torch.Tensor:
    return integers(shape, minval, maxval, dtype, _seeded(seed))


def _stateless_multinomial(
    logits: torch.Tensor, num_samples: int, seed: list[int], output_dtype: torch.dtype
) -> torch.Tensor:
    return categorical_draw(logits, num_samples, output_dtype, _seeded(seed))


def _check_seed(ctx: ShapeContext) -> None:
    dims = ctx.rank("seed", 1)
    if dims[0] not in (None, 2):
        raise ValueError(f"seed must have shape [2], but has shape [{dims[0]}]")


def _stateless_rows(ctx: ShapeContext) -> Any:
    _check_seed(ctx)
    return per_row(ctx)


def _two_seeds(ctx: ShapeContext) -> Any:
    _check_seed(ctx)
    return ctx.shape_value("shape")


def _stateless_bounds(ctx: ShapeContext) -> Any:
    _two_seeds(ctx)
    return bounds(ctx)


for _name, _kernel in (
    ("StatelessRandomUniform", _stateless_uniform),
    ("StatelessRandomNormal", _stateless_normal),
    ("StatelessTruncatedNormal", _stateless_truncated),
):
    define_op(
        _name,
        "shape: T, seed: Tseed -> output: dtype",
        attrs=[f"dtype: {FLOATS} = float", f"T: {INDEX} = int32", f"Tseed: {INDEX} = int64"],
        shape=_two_seeds,
        kernel=_kernel,
        host=("shape", "seed"),
        on_host=True,
        no_gradient=NO_INPUTS,
    )

define_op(
    "StatelessRandomUniformInt",
    "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype",
    attrs=[f"dtype: {INDEX}", f"T: {INDEX}", f"Tseed: {INDEX} = int64"],
    shape=_stateless_bounds,
    kernel=_stateless_int,
    host=("shape", "seed", "minval", "maxval"),
    no_gradient="integers have no gradient",
    on_host=True,
)

define_op(
    "StatelessMultinomial",
    "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype",
    attrs=[f"T: {NUMBERS}", f"Tseed: {INDEX} = int64", f"output_dtype: {INDEX} = int64"],
    shape=_stateless_rows,
    kernel=_stateless_multinomial,
    host=("num_samples", "seed"),
    no_gradient="a drawn class does not change smoothly with the logits",
    on_host=True,
)


# ---- public functions ------------------------------------------------------------------------


@documented_as(random_uniform)
def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Uniform numbers that depend on nothing but the arguments.

    Args:
      seed: two integers, shape ``[2]``.
    """
    wanted, maxval = uniform_type(dtype, maxval, "stateless_uniform")
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        sizes = shape_tensor(shape)
        low = convert_to_tensor(minval, wanted, name="min")
        high = convert_to_tensor(maxval, wanted, name="max")
        if wanted.is_integer:
            return make("StatelessRandomUniformInt", sizes, seed, low, high, name=scope)
        draw = make("StatelessRandomUniform", sizes, seed, dtype=wanted)
        return scaled(draw, make("Sub", high, low, name="sub"), low, scope)


def _stateless(
    function: str, default: str, op_type: str, doc: str, like: Callable
) -> Callable[..., Tensor]:
    @named(function, doc, like)
    def draw(
        shape: Any,
        seed: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        wanted = dtypes.as_dtype(dtype)
        with name_scope(name, default, [shape, seed, mean, stddev]) as scope:
            sizes = shape_tensor(shape)
            mean = convert_to_tensor(mean, wanted, name="mean")
            stddev = convert_to_tensor(stddev, wanted, name="stddev")
            return scaled(make(op_type, sizes, seed, dtype=wanted), stddev, mean, scope)

    return draw


stateless_normal = _stateless(
    "stateless_normal",
    "stateless_random_normal",
    "StatelessRandomNormal",
    """Normal numbers that depend on nothing but the arguments.

    Args:
      seed: two integers, shape ``[2]``.
    """,
    random_normal,
)
stateless_truncated_normal = _stateless(
    "stateless_truncated_normal",
    "stateless_truncated_normal",
    "StatelessTruncatedNormal",
    """Truncated normal numbers that depend on nothing but the arguments.

    Args:
      seed: two integers, shape ``[2]``.
    """,
    truncated_normal,
)


@documented_as(multinomial)
def stateless_multinomial(
    logits: Any,
    num_samples: Any,
    seed: Any,
    output_dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """``multinomial`` that depends on nothing but its arguments.

    Args:
      seed: two integers, shape ``[2]``.
    """
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return _stateless_classes(logits, num_samples, seed, output_dtype)


@documented_as(categorical)
def stateless_categorical(
    logits: Any,
    num_samples: Any,
    seed: Any,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """``categorical`` that depends on nothing but its arguments.

    Args:
      seed: two integers, shape ``[2]``.
    """
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return _stateless_classes(logits, num_samples, seed, dtype)


def _stateless_classes(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    wanted = dtypes.as_dtype(dtype)
    return make("StatelessMultinomial", logits, num_samples, seed, output_dtype=wanted)
