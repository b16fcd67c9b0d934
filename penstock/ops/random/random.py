"""Random ops.

Stateful ops draw from a ``Stream`` private to (session, node), seeded by the attrs ``seed`` and
``seed2``; they are never folded or merged.  The numbers are reproducible from their seeds, but are
not the ones that TensorFlow draws.  ``stateless_random`` has the ops whose seed is an input.

Truncated normals go through the inverse of the normal distribution function: one uniform draw and
one ``erfinv`` an element, whatever is cut off.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.engine.resources import stream
from penstock.foundation.base import dimension, dtypes
from penstock.foundation.base.docstrings import documented_as, named
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.families import Draw
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.seeds import get_seed
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, first_input
from penstock.ops.array import shape as shape_ops
from penstock.ops.control import debug
from penstock.ops.math import reductions

FLOATS = "{half, bfloat16, float, double}"
NUMBERS = (
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
)
SEEDS = ["seed: int = 0", "seed2: int = 0"]
INDEX = "{int32, int64}"
NO_INPUTS = "a draw does not depend smoothly on the shape that was asked for"


# ---- shape rule ------------------------------------------------------------------------------


def _of_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("shape", 1)
    return ctx.shape_value("shape")


# ---- kernels ---------------------------------------------------------------------------------


_SQRT2 = math.sqrt(2)
# erf(2 / sqrt(2)), a little less: rounding must not reach beyond two standard deviations.
_WITHIN_TWO = math.erf(_SQRT2) * (1 - 1e-6)


def truncated(shape: Any, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    wide = dtype if dtype in (torch.float32, torch.float64) else torch.float32
    draw = torch.empty(shape, dtype=wide)
    draw.uniform_(-_WITHIN_TWO, _WITHIN_TWO, generator=generator).erfinv_().mul_(_SQRT2)
    return draw if wide is dtype else draw.to(dtype)


def _truncated_normal(shape: Any, dtype: torch.dtype, state: stream.Stream) -> torch.Tensor:
    return truncated(shape, dtype, state.generator)


def _parameterized(
    shape: Any, means: Any, stdevs: Any, minvals: Any, maxvals: Any, dtype: Any,
    state: stream.Stream,
) -> torch.Tensor:  # fmt: skip
    if not shape:
        raise ValueError("shape must have at least one dim, the batch")

    def column(value: torch.Tensor, what: str) -> torch.Tensor:
        if value.dim() > 1 or (value.dim() == 1 and value.shape[0] not in (1, shape[0])):
            raise ValueError(
                f"{what} must be a scalar or have {shape[0]} element(s), the batch size; found"
                f" shape {list(value.shape)}"
            )
        return value.double().reshape([-1] + [1] * (len(shape) - 1))

    mean, scale = column(means, "means"), column(stdevs, "stdevs")
    low, high = column(minvals, "minvals"), column(maxvals, "maxvals")
    if bool((scale <= 0).any()):
        raise ValueError("stdevs must be positive")
    low, high = (torch.minimum(low, high) - mean) / scale, (torch.maximum(low, high) - mean) / scale
    # In the left tail the distribution function keeps its relative accuracy: mirror the right one.
    mirrored = low > 0
    low, high = torch.where(mirrored, -high, low), torch.where(mirrored, -low, high)
    below, above = torch.special.ndtr(low), torch.special.ndtr(high)
    draw = torch.rand(shape, generator=state.generator, dtype=torch.float64)
    normal = torch.special.ndtri(below + draw * (above - below))
    normal = torch.minimum(torch.maximum(normal, low), high)
    return (torch.where(mirrored, -normal, normal) * scale + mean).to(dtype)


def _uniform_int(
    shape: Any, minval: int, maxval: int, Tout: torch.dtype, state: stream.Stream
) -> torch.Tensor:
    return integers(shape, minval, maxval, Tout, state.generator)


def integers(
    shape: Any, minval: int, maxval: int, dtype: torch.dtype, generator: torch.Generator
) -> torch.Tensor:
    if minval >= maxval and math.prod(shape):
        raise ValueError(
            f"Need minval < maxval, got {minval} >= {maxval}:"
            f" minval must be less than maxval; found {minval} and {maxval}"
        )
    if minval >= maxval:
        return torch.empty(shape, dtype=dtype)
    return torch.randint(minval, maxval, shape, generator=generator, dtype=dtype)


def _shuffle(value: Any, state: stream.Stream) -> Any:
    if not value.shape:
        return value.copy() if isinstance(value, np.ndarray) else value.clone()
    order = torch.randperm(value.shape[0], generator=state.generator)
    if isinstance(value, np.ndarray):
        return value[order.numpy()]
    return torch.index_select(value, 0, order)


def categorical_draw(
    logits: torch.Tensor, num_samples: int, output_dtype: torch.dtype, generator: torch.Generator
) -> torch.Tensor:
    if logits.dim() != 2:
        raise ValueError(f"logits must have rank 2; found shape {list(logits.shape)}")
    if num_samples < 0:
        raise ValueError(f"num_samples must not be negative; found {num_samples}")
    classes = logits.shape[1]
    if classes == 0 and num_samples:
        raise ValueError("num_classes should be positive, got 0: logits need at least one class")
    shape = (logits.shape[0], num_samples)
    if 0 in shape:
        return torch.empty(shape, dtype=output_dtype)
    wide = logits.double()
    weights = torch.exp(wide - wide.amax(1, keepdim=True))
    # As TensorFlow: classes whose logit is not finite are never drawn.
    weights = torch.where(torch.isfinite(wide), weights, 0.0)
    bounds = torch.cumsum(weights, 1)
    draws = torch.rand(shape, generator=generator, dtype=torch.float64) * bounds[:, -1:]
    found = torch.searchsorted(bounds, draws, right=True, out_int32=output_dtype is torch.int32)
    return found.clamp_(max=classes - 1)


def _multinomial(
    logits: torch.Tensor, num_samples: int, output_dtype: torch.dtype, state: stream.Stream
) -> torch.Tensor:
    return categorical_draw(logits, num_samples, output_dtype, state.generator)


# ---- shape rules and gradients ---------------------------------------------------------------


def bounds(ctx: ShapeContext) -> Any:
    ctx.rank("minval", 0)
    ctx.rank("maxval", 0)
    return ctx.shape_value("shape")


def per_row(ctx: ShapeContext) -> Any:
    count = ctx.value("num_samples")
    ctx.rank("num_samples", 0)
    return (ctx.rank("logits", 2)[0], None if count is None else int(count))


# ---- definitions -----------------------------------------------------------------------------


for _name, _kernel in (
    ("RandomUniform", "torch.rand({shape}, generator={state}.generator, dtype={dtype})"),
    ("RandomStandardNormal", "torch.randn({shape}, generator={state}.generator, dtype={dtype})"),
    ("TruncatedNormal", _truncated_normal),
):
    define_op(
        _name,
        "shape: T -> output: dtype",
        attrs=[*SEEDS, f"dtype: {FLOATS}", f"T: {INDEX}"],
        shape=_of_shape,
        kernel=_kernel,
        host=("shape",),
        no_gradient=NO_INPUTS,
        state=stream.of_op,
        random=True,
        stateful=True,
    )

define_op(
    "ParameterizedTruncatedNormal",
    "shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype",
    attrs=[*SEEDS, f"dtype: {FLOATS}", f"T: {INDEX}"],
    shape=_of_shape,
    kernel=_parameterized,
    host=("shape",),
    no_gradient="TensorFlow defines none",
    state=stream.of_op,
    random=True,
    stateful=True,
)

define_op(
    "RandomUniformInt",
    "shape: T, minval: Tout, maxval: Tout -> output: Tout",
    attrs=[*SEEDS, f"Tout: {INDEX}", f"T: {INDEX}"],
    shape=bounds,
    kernel=_uniform_int,
    host=("shape", "minval", "maxval"),
    no_gradient="integers have no gradient",
    state=stream.of_op,
    random=True,
    stateful=True,
)

define_op(
    "RandomShuffle",
    "value: T -> output: T",
    attrs=[*SEEDS, "T: type"],
    shape=first_input,
    kernel=_shuffle,
    no_gradient="TensorFlow defines none",
    state=stream.of_op,
    random=True,
    stateful=True,
)

define_op(
    "Multinomial",
    "logits: T, num_samples: int32 -> output: output_dtype",
    attrs=[*SEEDS, f"T: {NUMBERS}", f"output_dtype: {INDEX} = int64"],
    shape=per_row,
    kernel=_multinomial,
    host=("num_samples",),
    no_gradient="a drawn class does not change smoothly with the logits",
    state=stream.of_op,
    random=True,
    stateful=True,
)

# ---- public functions ------------------------------------------------------------------------


def shape_tensor(shape: Any) -> Tensor:
    if isinstance(shape, list | tuple):
        shape = [d.value if isinstance(d, dimension.Dimension) else d for d in shape]
        return convert_to_tensor(shape, None if shape else dtypes.int32, name="shape")
    return convert_to_tensor(shape, name="shape")


def seeds(seed: int | None) -> dict[str, int]:
    first, second = get_seed(seed)
    return {"seed": first or 0, "seed2": second or 0}


def scaled(draw: Tensor, factor: Tensor, offset: Tensor, name: str) -> Tensor:
    return make("Add", make("Mul", draw, factor, name="mul"), offset, name=name)


def uniform_type(dtype: Any, maxval: Any, asker: str) -> tuple[dtypes.DType, Any]:
    wanted = dtypes.as_dtype(dtype)
    allowed = (
        dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64,
    )  # fmt: skip
    if wanted not in allowed:
        raise ValueError(
            f"{asker}: dtype may not be {wanted.name}; allowed are"
            f" {', '.join(d.name for d in allowed)}"
        )
    if maxval is None:
        if wanted.is_integer:
            raise ValueError(f"{asker}: maxval must be given for the integer type {wanted.name}")
        maxval = 1
    return wanted, maxval


def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers drawn uniformly from ``[minval, maxval)``.

    Args:
      shape: shape of the result: a 1-D integer tensor or sequence.
      minval: lower bound, included; for integers a scalar.
      maxval: upper bound, excluded; 1 by default for floats, required for integers.
      dtype: half, bfloat16, float32, float64, int32 or int64.
      seed: op-level seed; see ``set_random_seed``.

    Returns:
      A tensor of ``shape`` and ``dtype``.

    Raises:
      ValueError: a type that is not allowed, or no ``maxval`` for integers.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.random_uniform([2, 3]).shape.as_list()
      [2, 3]
    """
    wanted, maxval = uniform_type(dtype, maxval, "random_uniform")
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        sizes = shape_tensor(shape)
        low = convert_to_tensor(minval, wanted, name="min")
        high = convert_to_tensor(maxval, wanted, name="max")
        given = seeds(seed)
        if wanted.is_integer:
            return make("RandomUniformInt", sizes, low, high, name=scope, **given)
        draw = make("RandomUniform", sizes, dtype=wanted, **given)
        return scaled(draw, make("Sub", high, low, name="sub"), low, scope)


def _normal(function: str, op_type: str, doc: str, *like: Draw) -> Draw:
    @named(function, doc, *like)
    def draw(
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        seed: int | None = None,
        name: str | None = None,
    ) -> Tensor:
        wanted = dtypes.as_dtype(dtype)
        with name_scope(name, function, [shape, mean, stddev]) as scope:
            sizes = shape_tensor(shape)
            mean = convert_to_tensor(mean, wanted, name="mean")
            stddev = convert_to_tensor(stddev, wanted, name="stddev")
            drawn = make(op_type, sizes, dtype=wanted, **seeds(seed))
            return scaled(drawn, stddev, mean, scope)

    return draw


random_normal = _normal(
    "random_normal",
    "RandomStandardNormal",
    """Numbers drawn from a normal distribution.

    Args:
      shape: shape of the result.
      mean, stddev: of the distribution; scalars or what broadcasts to ``shape``.
      dtype: half, bfloat16, float32 or float64.
      seed: op-level seed.

    Returns:
      A tensor of ``shape`` and ``dtype``.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     drawn = session.run(tf.random_normal([100, 100], mean=5.0, stddev=2.0))
      >>> round(float(drawn.mean())), round(float(drawn.std()))
      (5, 2)
    """,
)
truncated_normal = _normal(
    "truncated_normal",
    "TruncatedNormal",
    """Numbers drawn from a normal distribution cut off two standard deviations from its mean.

    Args:
      mean, stddev: of the distribution before it is cut off.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     drawn = session.run(tf.truncated_normal([100, 100], stddev=0.5))
      >>> bool(abs(drawn).max() <= 1.0)  # two standard deviations
      True
    """,
    random_normal,
)


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """``value`` with its rows (slices along the first dim) in random order.

    Args:
      value: a tensor of any type.
      seed: op-level seed.

    Returns:
      A tensor of the shape and type of ``value``.
    """
    return make("RandomShuffle", value, name=name, **seeds(seed))


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """A slice of ``value`` of shape ``size`` at a random place.

    Args:
      value: the tensor to crop.
      size: 1-D, one size a dim; to keep a dim whole, give its full size.
      seed: op-level seed.

    Returns:
      A tensor of the type of ``value`` and shape ``size``.

    Raises:
      InvalidArgumentError: when it is run, if ``size`` exceeds the shape of ``value``.

    Example:
      >>> import penstock as tf
      >>> image = tf.reshape(tf.range(100), [10, 10, 1])
      >>> with tf.Session() as session:
      ...     crop = session.run(tf.random_crop(image, [4, 4, 1]))[:, :, 0]
      >>> crop.shape, bool((np.diff(crop) == 1).all())  # neighbours stay neighbours
      ((4, 4), True)
    """
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtypes.int32, name="size")
        shape = shape_ops.shape(value)
        fits = reductions.reduce_all(shape >= size)
        check = debug.Assert(fits, ["Need value.shape >= size, got ", shape, size], 1000)
        with control_dependencies([check]):
            shape = make("Identity", shape, name="control_dependency")
        limit = shape - size + 1
        offset = random_uniform(
            shape_ops.shape(shape), dtype=size.dtype, maxval=size.dtype.max, seed=seed
        )
        return make("Slice", value, offset % limit, size, name=scope)


def multinomial(
    logits: Any,
    num_samples: Any,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> Tensor:
    """Classes drawn by unnormalized log probabilities.

    Args:
      logits: ``[batch, classes]``.
      num_samples: scalar: how many to draw for each row.
      seed: op-level seed.
      output_dtype: int32 or int64, by default int64.

    Returns:
      Class numbers, ``[batch, num_samples]``.

    Example:
      >>> import penstock as tf
      >>> logits = tf.log([[0.001, 0.001, 0.998]])
      >>> with tf.Session() as session:
      ...     drawn = session.run(tf.multinomial(logits, 1000))
      >>> drawn.shape, int(np.bincount(drawn[0]).argmax())
      ((1, 1000), 2)
    """
    return _draw_classes("multinomial", logits, num_samples, output_dtype, seed, name)


@documented_as(multinomial)
def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """``multinomial`` under its newer name.

    Args:
      dtype: int32 or int64, by default int64.
    """
    return _draw_classes("categorical", logits, num_samples, dtype, seed, name)


def _draw_classes(
    default: str, logits: Any, num_samples: Any, dtype: Any, seed: int | None, name: str | None
) -> Tensor:
    with name_scope(name, default, [logits]):
        logits = convert_to_tensor(logits, name="logits")
        wanted = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
        return make("Multinomial", logits, num_samples, output_dtype=wanted, **seeds(seed))
