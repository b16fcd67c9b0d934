"""Public pools: arguments of TensorFlow 1.15, as layers over the ops of ``ops.pool``."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base.docstrings import documented_as, named
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.families import Pool, PoolOfAny
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.inference import show
from penstock.library.nn import conv, volumes
from penstock.ops.math import reduction
from penstock.ops.nn import window


def _pool2d(
    op_type: str, default: str, value: Any, ksize: Any, strides: Any, padding: str,
    data_format: str | None, name: str | None,
) -> Tensor:  # fmt: skip
    with name_scope(name, default, [value]) as scope:
        data_format = data_format or "NHWC"
        c = window.channel(data_format)
        return make_tensor(
            op_type,
            value,
            name=scope,
            ksize=conv.sequence_of(ksize, 2, c, "ksize"),
            strides=conv.sequence_of(strides, 2, c, "strides"),
            padding=padding,
            data_format=data_format,
        )


def _pool(function: str, op_type: str, doc: str, *like: Pool) -> Pool:
    @named(function, doc, *like)
    def pool(
        value: Any,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = "NHWC",
        name: str | None = None,
        input: Any = None,
    ) -> Tensor:
        value = conv.given("input", input, "value", value)
        return _pool2d(op_type, op_type, value, ksize, strides, padding, data_format, name)

    return pool


max_pool = _pool(
    "max_pool",
    "MaxPool",
    """The largest value in each window.

    Args:
      value: real ``[batch, height, width, channels]``.
      ksize: window: int, or a list of 1, 2 or 4.
      strides: int, or a list of 1, 2 or 4.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      input: synonym of ``value``.

    Returns:
      A tensor in the same format.

    Raises:
      ValueError: shapes or attributes that do not fit.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.nn.max_pool(tf.ones([1, 5, 5, 3]), 2, 2, "SAME").shape.as_list()
      [1, 3, 3, 3]
    """,
)
avg_pool = _pool(
    "avg_pool",
    "AvgPool",
    """The mean of each window, over what is inside the image.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.nn.avg_pool(tf.ones([1, 3, 3, 1]), 2, 2, "SAME")).ravel().tolist()
      [1.0, 1.0, 1.0, 1.0]
    """,
    max_pool,
)


@documented_as(max_pool)
def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """``max_pool`` of images.

    Args:
      input: real ``[batch, height, width, channels]``.
    """
    return _pool2d("MaxPool", "MaxPool2d", input, ksize, strides, padding, data_format, name)


avg_pool2d = avg_pool

# With channels last and first, by the number of dims that are pooled.
_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _pool_v2(
    pool_type: str,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    dims = input.sizes if isinstance(input, Tensor) else np.shape(input)
    if dims is None and data_format is None:
        raise ValueError("The input must have a rank or a data format must be given; found neither")
    given: Any = data_format if dims is None else dims
    count = len(given) - 2
    if not 1 <= count <= 3:
        found = show(dims) if dims is not None else repr(data_format)
        raise ValueError(
            f"Input tensor must be of rank 3, 4 or 5 but was {count + 2}: its shape or format is"
            f" {found}"
        )
    first = data_format is not None and data_format.startswith("NC")
    made = _FORMATS[count][first]
    how = (ksize, strides, padding, made, name)
    if count == 1:
        return (max_pool1d if pool_type == "MaxPool" else avg_pool1d)(input, *how)
    if count == 2:
        return _pool2d(pool_type, pool_type, input, *how)
    c = 1 if first else 4
    sizes = conv.sequence_of(ksize, 3, c, "ksize")
    steps = conv.sequence_of(strides, 3, c, "strides")
    pool = volumes.max_pool3d if pool_type == "MaxPool" else volumes.avg_pool3d
    return pool(input, sizes, steps, padding, made, name)


def _pool_of_any(function: str, op_type: str, doc: str, like: Pool | PoolOfAny) -> PoolOfAny:
    @named(function, doc, like)
    def pool(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = None,
        name: str | None = None,
    ) -> Tensor:
        return _pool_v2(op_type, input, ksize, strides, padding, data_format, name)

    return pool


max_pool_v2 = _pool_of_any(
    "max_pool_v2",
    "MaxPool",
    """The largest value in each window of one, two or three dims.

    Args:
      input: ``[batch, 1 to 3 dims, channels]``.
      ksize: window: int, or a list.
      strides: int, or a list.
      data_format: with channels last (the default), or first: "NC...".

    Raises:
      ValueError: another rank; no rank and no ``data_format``.
    """,
    max_pool,
)
avg_pool_v2 = _pool_of_any(
    "avg_pool_v2",
    "AvgPool",
    "The mean of each window of one, two or three dims.",
    max_pool_v2,
)


def _pool_of_rows(function: str, op_type: str, default: str) -> PoolOfAny:
    windows = "windows are ints or lists of 1 or 3"

    @named(function, f"``{function[:8]}`` of ``[batch, width, channels]``; {windows}.")
    def pool(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str = "NWC",
        name: str | None = None,
    ) -> Tensor:
        if data_format not in ("NWC", "NCW"):
            raise ValueError(f"data_format must be 'NWC' or 'NCW'; found {data_format!r}")
        with name_scope(name, default, [input]) as scope:
            axis = 1 if data_format == "NWC" else 2
            made = make(
                op_type,
                make("ExpandDims", input, axis),
                name=scope,
                ksize=[1, *conv.sequence_of(ksize, 1, 3 - axis, "ksize")],
                strides=[1, *conv.sequence_of(strides, 1, 3 - axis, "strides")],
                padding=padding,
                data_format="NHWC" if axis == 1 else "NCHW",
            )
            return make_tensor("Squeeze", made, squeeze_dims=[axis])

    return pool


max_pool1d = _pool_of_rows("max_pool1d", "MaxPool", "MaxPool1d")
avg_pool1d = _pool_of_rows("avg_pool1d", "AvgPool", "AvgPool1D")


@documented_as(max_pool2d)
def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> tuple[Tensor, Tensor]:
    """``max_pool`` and where each maximum was.

    Args:
      ksize: list of 4.
      strides: list of 4.
      data_format: "NHWC".
      Targmax: former name of ``output_dtype``.
      output_dtype: int64 (default) or int32.
      include_batch_in_index: whether positions count from the start of the batch, not of the image.

    Returns:
      The maxima, and their positions ``(y * width + x) * channels + channel``.

    Raises:
      ValueError: a ``data_format`` other than NHWC.
    """
    if data_format != "NHWC":
        raise ValueError(f"data_format must be 'NHWC'; found {data_format!r}")
    kind = reduction.renamed("output_dtype", output_dtype, "Targmax", Targmax)
    made: tuple[Tensor, Tensor] = make(
        "MaxPoolWithArgmax",
        input,
        name=name,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=kind if kind is not None else "int64",
        include_batch_in_index=include_batch_in_index,
    )
    return made
