"""Complex numbers: parts, conjugate, modulus, argument.

Functions of real tensors take short cuts that make no node: the conjugate and the real part of a
real tensor are the tensor itself, its imaginary part and (as in TF 1.15) its angle are zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import broadcast, first_input
from penstock.ops.array import broadcasting
from penstock.ops.math import elementwise, no_nan

_T = "T: {complex64, complex128} = complex64"
_TOUT = "Tout: {float, double} = float"


def _zero(dtype: Any) -> Tensor:
    return constant(np.zeros((), dtype.as_numpy_dtype), dtype)


def _real_grad(op: Any, grad: Any) -> Any:
    return make("Complex", grad, _zero(grad.dtype), Tout=op.inputs[0].dtype.base_dtype)


def _imag_grad(op: Any, grad: Any) -> Any:
    """What TF 1.15 builds: the imaginary part's gradient taken as the real part of -i * grad."""
    return make("Complex", _zero(grad.dtype), grad, Tout=op.inputs[0].dtype.base_dtype)


def _angle_grad(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    kind = x.dtype.base_dtype
    with control_dependencies([grad]):
        first = make("Real", x, Tout=kind.real_dtype)
        second = make("Imag", x, Tout=kind.real_dtype)
        inverse = make("Reciprocal", make("Complex", second, first, Tout=kind))
        wide = make("Complex", grad, _zero(grad.dtype), Tout=kind)
        return -wide * inverse


def _abs_grad(op: Any, grad: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    kind = x.dtype.base_dtype
    wide = make("Complex", grad, elementwise.zeros_like(grad), Tout=kind)
    product = wide * x
    return no_nan.div_no_nan(product, make("Complex", y, elementwise.zeros_like(y), Tout=kind))


for _name, _input, _output, _kernel, _aliases, _gradient in (
    ("Real", "input", "output", "torch.real({input})", ("input",), _real_grad),
    ("Imag", "input", "output", "torch.imag({input})", ("input",), _imag_grad),
    ("Angle", "input", "output", "torch.angle({input})", (), _angle_grad),
    ("ComplexAbs", "x", "y", "torch.abs({x})", (), _abs_grad),
):
    define_op(
        _name,
        f"{_input}: T -> {_output}: Tout",
        attrs=[_T, _TOUT],
        shape=first_input,
        kernel=_kernel,
        aliases=_aliases,
        gradient=_gradient,
    )

define_op(
    "Conj",
    "input: T -> output: T",
    attrs=["T: {complex64, complex128, variant} = complex64"],
    shape=first_input,
    kernel="torch.conj_physical({input})",
    inplace={"input": "{input}.conj_physical_()"},
    gradient=lambda op, grad: conj(grad),
)


def _complex_grad(op: Any, grad: Any) -> list[Any]:
    first, second = broadcasting.dynamic(*op.inputs)
    kind = op.inputs[0].dtype.base_dtype
    return [first(make("Real", grad, Tout=kind)), second(make("Imag", grad, Tout=kind))]


define_op(
    "Complex",
    "real: T, imag: T -> out: Tout",
    attrs=["T: {float, double} = float", "Tout: {complex64, complex128} = complex64"],
    shape=broadcast,
    kernel="torch.complex({real}, {imag})",
    gradient=_complex_grad,
)


# ---- public functions ---------------------------------------------------------------------------


def complex_(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """Complex numbers from their parts.

    Args:
      real, imag: float32 or float64 tensors of one dtype; they broadcast.

    Returns:
      A complex64 or complex128 tensor.

    Raises:
      TypeError: the parts are not both float32 or both float64.
    """
    real = convert_to_tensor(real, name="real")
    imag = convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        kinds = (real.dtype.base_dtype, imag.dtype.base_dtype)
        if kinds == (dtypes.float64, dtypes.float64):
            kind = dtypes.complex128
        elif kinds == (dtypes.float32, dtypes.float32):
            kind = dtypes.complex64
        else:
            raise TypeError(
                "real and imag have incorrect types: found"
                f" {kinds[0].name} {kinds[1].name}; both must be float32, or both float64"
            )
        return make("Complex", real, imag, name=scope, Tout=kind)


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; a real tensor is returned as it is.

    Args:
      input: a numeric tensor.

    Returns:
      A real tensor of the shape of ``input``.
    """
    with name_scope(name, "Real", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return input
        return make("Real", input, name=scope, Tout=input.dtype.real_dtype)


def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part; zeros for a real tensor.

    Args:
      input: a numeric tensor.

    Returns:
      A real tensor of the shape of ``input``.
    """
    return _part("Imag", input, name)


def angle(input: Any, name: str | None = None) -> Tensor:
    """The argument of complex numbers, in (-pi, pi]; zeros for a real tensor, as in TF 1.15.

    Args:
      input: a numeric tensor.

    Returns:
      A real tensor of the shape of ``input``.
    """
    return _part("Angle", input, name)


def _part(op_type: str, input: Any, name: str | None) -> Tensor:
    with name_scope(name, op_type, [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return elementwise.zeros_like(input)
        return make(op_type, input, name=scope, Tout=input.dtype.real_dtype)


def conj(x: Any, name: str | None = None) -> Any:
    """The complex conjugate; a real tensor is returned as it is.

    Args:
      x: a numeric tensor.

    Returns:
      A tensor of the shape and type of ``x``.

    Raises:
      TypeError: ``x`` is not numeric.
    """
    kind = getattr(x, "dtype", None)
    if isinstance(kind, dtypes.DType) and (kind.is_floating or kind.is_integer):
        return x
    with name_scope(name, "Conj", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex or x.dtype.base_dtype is dtypes.variant:
            return make("Conj", x, name=scope)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(
            f"Expected numeric or variant tensor, got dtype {x.dtype!r}:"
            f" conj: expected a numeric tensor, found {x.name} of {x.dtype.name}"
        )
