"""Discrete Fourier transforms over the last one, two or three dims.

``FFT`` and ``IFFT`` take complex tensors; ``RFFT`` and ``IRFFT`` real ones, of whose spectrum the
half with non-negative frequencies is kept, and a vector ``fft_length`` of the sizes transformed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import named
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.families import RealTransform, Transform
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, show
from penstock.ops.array import fill, join, nodes, ranges, ranks, shape as shapes
from penstock.ops.array.pad import pad
from penstock.ops.array.split import unstack
from penstock.ops.array.transpose import roll
from penstock.ops.linalg import matmul
from penstock.ops.math import elementwise, reductions

_SUFFIX = {1: "", 2: "2D", 3: "3D"}
_COMPLEX = "Tcomplex: {complex64, complex128} = complex64"


# ---- shape rules ---------------------------------------------------------------------------------


def _same_rank(rank: int) -> Any:
    def rule(ctx: ShapeContext) -> Dims:
        return ctx.rank_at_least("input", rank)

    return rule


def _real_shape(rank: int, forward: bool) -> Any:
    def rule(ctx: ShapeContext) -> Dims:
        dims = ctx.rank_at_least("input", rank)
        count = ctx.rank("fft_length", 1)[0]
        if count not in (None, rank):
            raise ValueError(f"fft_length must have {rank} element(s); found {count}")
        if dims is None:
            return None
        sizes = ctx.value("fft_length")
        if sizes is None:
            return (*dims[:-rank], *(None,) * rank)
        wanted = [int(s) for s in sizes]
        last = int(wanted[-1] / 2) + 1 if forward and wanted[-1] else wanted[-1]
        result = (*dims[:-rank], *(None if w < 0 else w for w in (*wanted[:-1], last)))
        if min(wanted) < 0:
            raise FailsAtRun(f"fft_length must not be negative; found {wanted}", result)
        return result

    return rule


# ---- kernels -------------------------------------------------------------------------------------


def _complex(function: Any, rank: int) -> Any:
    axes = tuple(range(-rank, 0))

    def kernel(input: Any) -> Any:
        if not input.numel():
            return input.clone()
        return function(input, dim=axes).contiguous()

    return kernel


def _check_length(input: Any, wanted: list[int], fft_length: list[int], rank: int) -> None:
    if input.dim() < rank or len(fft_length) != rank:
        raise ValueError(
            f"input must have rank at least {rank} and fft_length {rank} element(s); found shape"
            f" {list(input.shape)} and {fft_length}"
        )
    if min(fft_length) < 0:
        raise ValueError(f"fft_length must not be negative; found {fft_length}")
    for axis, least in zip(range(-rank, 0), wanted, strict=True):
        if input.shape[axis] < least and input.numel():
            raise ValueError(
                f"Input dimension {input.dim() + axis} must have length of at least {least} but"
                f" got: {input.shape[axis]}"
            )


def _real(rank: int) -> Any:
    axes = tuple(range(-rank, 0))

    def kernel(input: Any, fft_length: list[int]) -> Any:
        _check_length(input, fft_length, fft_length, rank)
        last = fft_length[-1] // 2 + 1 if fft_length[-1] else 0
        dims = (*input.shape[:-rank], *fft_length[:-1], last)
        if not input.numel() or not math.prod(dims):
            return torch.zeros(dims, dtype=torch.complex64, device=input.device)
        return torch.fft.rfftn(input, s=fft_length, dim=axes).contiguous()

    return kernel


def _inverse_real(rank: int) -> Any:
    axes = tuple(range(-rank, 0))

    def kernel(input: Any, fft_length: list[int]) -> Any:
        half = [*fft_length[:-1], fft_length[-1] // 2 + 1] if fft_length[-1:] != [0] else fft_length
        _check_length(input, half, fft_length, rank)
        dims = (*input.shape[:-rank], *fft_length)
        if not input.numel() or not math.prod(dims):
            return torch.zeros(dims, dtype=torch.float32, device=input.device)
        return torch.fft.irfftn(input, s=fft_length, dim=axes).contiguous()

    return kernel


# ---- gradients -----------------------------------------------------------------------------------


def _size(x: Tensor, rank: int) -> Tensor:
    """Number of elements transformed together."""
    dims: Any = shapes.shape(x)
    return reductions.reduce_prod(dims[-rank:])


def _forward_grad(rank: int) -> Any:
    def gradient(op: Any, grad: Tensor) -> Tensor:
        size: Any = nodes.cast(_size(grad, rank), grad.dtype)
        back: Any = make(f"IFFT{_SUFFIX[rank]}", grad)
        return back * size

    return gradient


def _backward_grad(rank: int) -> Any:
    def gradient(op: Any, grad: Tensor) -> Tensor:
        size: Any = nodes.cast(_size(grad, rank), grad.dtype.real_dtype)
        scale = nodes.cast(1.0 / size, grad.dtype)
        forth: Any = make(f"FFT{_SUFFIX[rank]}", grad)
        return forth * scale

    return gradient


def _alternating(length: Any) -> Any:
    """1, -1, 1, ... as complex numbers."""
    return nodes.cast(1 - 2 * (ranges.range_(length) % 2), dtypes.complex64)


def _fourier_matrix(length: Any) -> Any:
    """``exp(-2 pi i a b / length)`` for all a and b below ``length``."""
    column: Any = nodes.cast(ranges.range_(length), dtypes.complex64)
    product = make("ExpandDims", column, 1) * make("ExpandDims", column, 0)
    return make("Exp", (-2j * np.pi) * product / nodes.cast(length, dtypes.complex64))


def _real_grad(rank: int) -> Any:
    """The inverse transform counts each inner frequency twice; the outer ones are added again."""

    def gradient(op: Any, grad: Any) -> list[Any]:
        x, length = op.inputs
        grad = convert_to_tensor(grad)
        dims: Any = shapes.shape(x)
        even = nodes.cast(1 - length[-1] % 2, dtypes.complex64)
        first, last = grad[..., 0:1], grad[..., -1:]
        if rank > 1:
            first, last = (_unfolded(end, dims) for end in (first, last))
        extra = first + even * last * _alternating(dims[-1])
        size: Any = nodes.cast(_size(x, rank), dtypes.float32)
        back: Any = _INVERSE[rank](grad, length)
        back *= size
        real = make("Real", extra, Tout=dtypes.float32)
        return [0.5 * (back + real), None]

    return gradient


def _unfolded(end: Any, dims: Any) -> Any:
    """Sum over the leading frequencies of one column, at each position of that dim."""
    return matmul.matmul(_fourier_matrix(dims[-2]), make("Conj", end))


def _inverse_real_grad(rank: int) -> Any:
    def gradient(op: Any, grad: Any) -> list[Any]:
        length = op.inputs[1]
        odd: Any = make("FloorMod", length[-1], 2)
        dims: Any = shapes.shape(op.inputs[0])
        inner = fill.ones([dims[-1] - 2 + odd])
        mask: Any = join.concat([[1.0], 2.0 * inner, fill.ones([1 - odd])], 0)
        size: Any = make("Reciprocal", nodes.cast(_size(grad, rank), dtypes.float32))
        forth: Any = _FORWARD[rank](grad, length)
        return [forth * nodes.cast(size * mask, dtypes.complex64), None]

    return gradient


# ---- the ops -------------------------------------------------------------------------------------

_OTHER_TYPES = ("Treal: type = float", "Tcomplex: type = complex64")

for _rank, _suffix in _SUFFIX.items():
    for _name, _function, _gradient in (
        (f"FFT{_suffix}", torch.fft.fftn, _forward_grad(_rank)),
        (f"IFFT{_suffix}", torch.fft.ifftn, _backward_grad(_rank)),
    ):
        define_op(
            _name,
            "input: Tcomplex -> output: Tcomplex",
            attrs=[_COMPLEX],
            shape=_same_rank(_rank),
            kernel=_complex(_function, _rank),
            gradient=_gradient,
        )
        if _rank < 3:
            define_op(
                f"Batch{_name}",
                "input: complex64 -> output: complex64",
                shape=_same_rank(_rank),
                kernel=_complex(_function, _rank),
                no_gradient="TensorFlow defines none; the op without Batch has one",
            )
    define_op(
        f"RFFT{_suffix}",
        "input: float, fft_length: int32 -> output: complex64",
        later=_OTHER_TYPES,
        shape=_real_shape(_rank, True),
        kernel=_real(_rank),
        host=("fft_length",),
        gradient=_real_grad(_rank) if _rank < 3 else None,
        no_gradient="TensorFlow 1.15 defines none" if _rank == 3 else None,
    )
    define_op(
        f"IRFFT{_suffix}",
        "input: complex64, fft_length: int32 -> output: float",
        later=_OTHER_TYPES,
        shape=_real_shape(_rank, False),
        kernel=_inverse_real(_rank),
        host=("fft_length",),
        gradient=_inverse_real_grad(_rank) if _rank < 3 else None,
        no_gradient="TensorFlow 1.15 defines none" if _rank == 3 else None,
    )


# ---- public functions ----------------------------------------------------------------------------

_DIMS = {1: "dim", 2: "two dims", 3: "three dims"}


def _complex_function(op_type: str, rank: int) -> Transform:
    def transform(input: Any, name: str | None = None) -> Tensor:
        return make(op_type, input, name=name)

    which = "Inverse discrete" if op_type.startswith("I") else "Discrete"
    doc = f"{which} Fourier transform over the last {_DIMS[rank]} of a complex tensor."
    return named(op_type.lower(), doc)(transform)


fft, ifft = (_complex_function(name, 1) for name in ("FFT", "IFFT"))
fft2d, ifft2d = (_complex_function(name, 2) for name in ("FFT2D", "IFFT2D"))
fft3d, ifft3d = (_complex_function(name, 3) for name in ("FFT3D", "IFFT3D"))

_REAL_DOC = """{what} over the last {dims}.

    Args:
      input_tensor: {dtype}, of rank at least {rank}; shorter dims are padded with zeros.
      fft_length: int32 vector of {rank}: sizes of the real side; default as the input has them.

    Returns:
      A {result} tensor.
    """


def _real_function(op_type: str, rank: int, inverse: bool) -> RealTransform:
    dtype = dtypes.complex64 if inverse else dtypes.float32

    def transform(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
        with name_scope(name, op_type.lower(), [input_tensor, fft_length]) as scope:
            x = convert_to_tensor(input_tensor, dtype)
            if x.sizes is not None and len(x.sizes) < rank:
                raise ValueError(
                    f"input_tensor must have rank at least {rank}; its shape is {show(x.sizes)}"
                )
            if fft_length is None:
                length: Any = _lengths(x, rank, inverse)
            else:
                length = convert_to_tensor(fft_length, dtypes.int32)
            x = _padded(x, rank, length, inverse)
            return make(op_type, x, length, name=scope)

    doc = _REAL_DOC.format(
        what="Real tensor of which this is the spectrum" if inverse
        else "Spectrum of a real tensor, its non-negative frequencies",
        dims=_DIMS[rank], rank=rank, dtype=dtype.name,
        result="float32" if inverse else "complex64",
    )  # fmt: skip
    return named(op_type.lower(), doc)(transform)


def _lengths(x: Tensor, rank: int, inverse: bool) -> Any:
    dims = None if x.sizes is None else x.sizes[-rank:]
    if dims is not None and None not in dims:
        known = [int(d) for d in dims if d is not None]
        if inverse:
            known[-1] = max(0, 2 * (known[-1] - 1))
        return convert_to_tensor(known, dtypes.int32)
    full: Any = shapes.shape(x)
    if not inverse:
        return full[-rank:]
    sizes: list[Any] = unstack(full[-rank:], num=rank)
    sizes[-1] = make("Maximum", 0, 2 * (sizes[-1] - 1))
    return join.stack(sizes)


def _padded(x: Tensor, rank: int, length: Any, inverse: bool) -> Tensor:
    """``x`` with zeros behind the transformed dims, where they are too short."""
    wanted = static.constant_value_as_shape(length, strict=False)
    if wanted is not None and len(wanted) != rank:
        raise ValueError(f"fft_length must have {rank} element(s); found {length}")
    if x.sizes is not None and 0 in x.sizes:
        return x
    if wanted is not None and None not in wanted and x.sizes is not None:
        sizes = [int(w) for w in wanted if w is not None]
        inner = x.sizes[-rank:]
        if None not in inner:
            if inverse:
                sizes[-1] = sizes[-1] // 2 + 1
            ends = [[0, max(w - (d or 0), 0)] for w, d in zip(sizes, inner, strict=True)]
            if not any(end for _, end in ends):
                return x
            return pad(x, [[0, 0]] * (len(x.sizes) - rank) + ends)
    every: Any = ranks.rank(x)
    full: Any = shapes.shape(x)
    have = full[-rank:]
    outer = fill.zeros([make("Maximum", 0, every - rank)], dtype=length.dtype)
    if inverse:
        length = join.concat([length[:-1], length[-1:] // 2 + 1], 0)
    ends = join.concat([outer, make("Maximum", 0, length - have)], 0)
    return pad(x, join.stack([elementwise.zeros_like(ends), ends], axis=1))


rfft, irfft = _real_function("RFFT", 1, False), _real_function("IRFFT", 1, True)
rfft2d, irfft2d = _real_function("RFFT2D", 2, False), _real_function("IRFFT2D", 2, True)
rfft3d, irfft3d = _real_function("RFFT3D", 3, False), _real_function("IRFFT3D", 3, True)
_FORWARD, _INVERSE = {1: rfft, 2: rfft2d, 3: rfft3d}, {1: irfft, 2: irfft2d, 3: irfft3d}


def _shifted(x: Any, axes: Any, name: str | None, default: str, sign: int) -> Tensor:
    with name_scope(name, default) as scope:
        x = convert_to_tensor(x)
        dims = x.shape.as_list()
        if axes is None:
            axes = tuple(range(len(dims)))
        if isinstance(axes, int):
            return roll(x, sign * (dims[axes] // 2), axes, scope)
        return roll(x, [sign * (dims[a] // 2) for a in axes], axes, scope)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Rolls the zero frequency into the middle of the dims ``axes`` (default all)."""
    return _shifted(x, axes, name, "fftshift", 1)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of ``fftshift``."""
    return _shifted(x, axes, name, "ifftshift", -1)
