"""What gradients of convolutions refuse: operands that belong to no one convolution.

TensorFlow's shape rules for these ops look at the wanted shape alone; its kernels refuse the rest.
So one function serves both: a kernel calls it with sizes, a shape rule (``checked``) with what is
known of them, where a refusal is left to the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, show
from penstock.ops.nn import window


def check_steps(strides: Sequence[int], dilations: Sequence[int], data_format: str) -> None:
    """Checks strides and dilations: one entry a dim, positive, 1 for batch and channels.

    Raises:
      ValueError: they are not; TensorFlow says so where the kernel is made.
    """
    count, channel = len(data_format), data_format.index("C")
    for what, values in (("strides", strides), ("dilations", dilations)):
        if len(values) != count:
            raise ValueError(
                f"Sliding window {what} field must specify {count} dimensions; found {list(values)}"
            )
        if values[0] != 1 or values[channel] != 1:
            raise ValueError(
                f"Current implementation does not yet support {what} in the batch and depth"
                f" dimensions; found {list(values)} ({data_format})"
            )
        if min(values) < 1:
            raise ValueError(f"Spatial {what} should be larger than 0; found {list(values)}")


def check_operands(
    image: Dims,
    kernel: Dims,
    grad: Dims,
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    explicit: Any,
    data_format: str,
    depthwise: bool = False,
) -> None:
    """Checks that a convolution of ``image`` with ``kernel`` gives what ``grad`` is of.

    Args:
      image: dims of the convolution's input; of this and the next two, None is what is not known.
      kernel: dims of its filter.
      grad: dims of the gradient of its output.
      strides: one a dim.
      dilations: one a dim.
      padding: "SAME", "VALID" or "EXPLICIT".
      explicit: the attr ``explicit_paddings``.
      data_format: "NHWC", "NCDHW" and so on.
      depthwise: whether the filter's last two dims are channels and multiplier.

    Raises:
      ValueError: it does not, or is no convolution.
    """
    check_steps(strides, dilations, data_format)
    count, channel = len(data_format), data_format.index("C")
    for name, dims in (("input", image), ("filter", kernel), ("out_backprop", grad)):
        if dims is not None and len(dims) != count:
            raise ValueError(f"{name} must be {count}-dimensional; found {show(dims)}")
    image, kernel, grad = (
        (None,) * count if dims is None else dims for dims in (image, kernel, grad)
    )
    if _differ(image[0], grad[0]):
        raise ValueError(
            f"input and out_backprop must have the same batch size; found {image[0]} and {grad[0]}"
        )
    (_check_depthwise if depthwise else _check_channels)(image[channel], kernel, grad[channel])
    axes = [axis for axis, letter in enumerate(data_format) if letter not in "NC"]
    for number, axis in enumerate(axes):
        if image[axis] is None or (kernel[number] is None and padding != "SAME"):
            continue
        computed = window.kernel_size(
            image[axis], kernel[number] or 1, strides[axis], dilations[axis], padding,
            window.explicit_pair(explicit, axis),
        )  # fmt: skip
        if _differ(computed, grad[axis]):
            raise ValueError(
                f"Size of out_backprop doesn't match computed: actual = {grad[axis]}, computed ="
                f" {computed} in dim {axis}, of {show(image)} with {show(kernel)}"
            )


def _differ(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one != other


def _check_channels(channels: int | None, kernel: Sequence[int | None], outputs: Any) -> None:
    depth = kernel[-2]
    if len(kernel) > 4 and channels and _differ(channels, depth):
        raise ValueError(f"input has {channels} channel(s), but the filter takes {depth}")
    if channels is not None and depth is not None and (not depth or channels % depth):
        raise ValueError(
            f"input depth must be evenly divisible by filter depth; found {channels} and {depth}"
        )
    if _differ(kernel[-1], outputs):
        raise ValueError(
            "filter and out_backprop must have the same out_depth; found"
            f" {kernel[-1]} and {outputs}"
        )
    if channels and depth and kernel[-1] is not None:
        check_groups(channels // depth, kernel[-1])


def check_groups(groups: int, outputs: int) -> None:
    """Checks that each group of a convolution's input channels has as many of its outputs.

    Raises:
      ValueError: it has not.
    """
    if groups and outputs % groups:
        raise ValueError(
            f"Depth of output ({outputs}) is not a multiple of the number of groups ({groups})"
        )


def _check_depthwise(channels: int | None, kernel: Sequence[int | None], outputs: Any) -> None:
    if _differ(channels, kernel[-2]):
        raise ValueError(
            f"input and filter must have the same in_depth; found {channels} and {kernel[-2]}"
        )
    wanted = times(channels if channels is not None else kernel[-2], kernel[-1])
    if _differ(wanted, outputs):
        raise ValueError(
            "depth_multiplier * in_depth not equal to out_depth; found"
            f" {show(tuple(kernel[-2:]))} and {outputs}"
        )


def times(one: int | None, other: int | None) -> int | None:
    """The product of two sizes: 0 if one of them is, unknown if one of them is."""
    if 0 in (one, other):
        return 0
    return None if one is None or other is None else one * other


def sizes_from(ctx: ShapeContext, name: str) -> tuple[int | None, ...]:
    """The shape that the vector ``name`` says, as far as it is known; one entry a dim."""
    count = len(ctx.op.attrs.get("data_format", "NDHWC"))
    dims = ctx.shape_value(name)
    if dims is not None and len(dims) != count:
        raise ValueError(
            f"Shape must be rank {count} but is rank {len(dims)}: {name} must have {count}"
            f" elements; found {show(dims)}"
        )
    return (None,) * count if dims is None else dims


def checked(
    ctx: ShapeContext, result: Dims, image: Dims, kernel: Dims, depthwise: bool = False
) -> Dims:
    """``result``, unless the operands of ``ctx`` are known not to fit: then the run fails."""
    attrs = ctx.op.attrs
    try:
        for name in ("input_sizes", "filter_sizes"):
            if any(arg.name == name for arg in ctx.op.op_def.inputs):
                value = ctx.value(name)
                check_sizes(() if value is None else value.tolist())
        check_operands(
            image, kernel, ctx["out_backprop"], attrs["strides"], attrs["dilations"],
            attrs["padding"], attrs.get("explicit_paddings"), attrs.get("data_format", "NDHWC"),
            depthwise,
        )  # fmt: skip
    except ValueError as error:
        raise FailsAtRun(str(error), result) from None
    return result


def check_sizes(sizes: Sequence[int]) -> None:
    """Checks a wanted shape in a kernel.

    Raises:
      ValueError: a negative size.
    """
    if min(sizes, default=0) < 0:
        raise ValueError(f"Dimension {min(sizes)} must be >= 0; found {list(sizes)}")
