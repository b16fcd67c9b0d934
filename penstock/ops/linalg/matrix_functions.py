"""Functions of matrices: exponential, logarithm and square root."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.ops.array import nodes
from penstock.ops.linalg import matrix_diag
from penstock.ops.linalg.linalg import (
    TYPES,
    adjoint,
    check_square,
    computed,
    matrix_transpose,
    plain,
    square_dims,
)


def _expm_kernel(input: Any) -> Any:
    return plain(torch.linalg.matrix_exp(computed(check_square(input))), input.dtype)


def _function_of(x: Any, function: Any) -> Any:
    """``V f(D) V^-1`` from the eigenvalues, or None where the eigenvectors are near dependent."""
    values, vectors = torch.linalg.eig(x)
    if bool((torch.linalg.cond(vectors) > 1e6).any()):
        return None
    return torch.linalg.solve(vectors, vectors * function(values).unsqueeze(-2), left=False)


def _sqrtm_kernel(input: Any) -> Any:
    x = computed(check_square(input))
    exact = torch.complex128 if x.dtype.is_complex else torch.float64
    root = _function_of(x.to(exact), torch.sqrt)
    if root is None:
        root = _denman_beavers(x.to(exact))
    return plain(root if x.dtype.is_complex else root.real, input.dtype)


def _denman_beavers(x: Any) -> Any:
    """The principal square root of matrices that lack independent eigenvectors."""
    root, inverse = x, torch.eye(x.shape[-1], dtype=x.dtype).expand_as(x)
    for _ in range(100):
        step = (root + torch.linalg.inv(inverse)) / 2
        inverse = (inverse + torch.linalg.inv(root)) / 2
        change = torch.linalg.vector_norm(step - root)
        root = step
        if change <= 1e-14 * torch.linalg.vector_norm(root):
            break
    return root


def _logm_kernel(input: Any) -> Any:
    x = check_square(input).to(torch.complex128)
    result = _function_of(x, torch.log)
    if result is None:
        result = _log_by_scaling(x)
    return plain(result, input.dtype)


def _log_by_scaling(x: Any) -> Any:
    """Square roots until near the identity, then the series of ``2 atanh((x - 1) / (x + 1))``."""
    identity = torch.eye(x.shape[-1], dtype=x.dtype).expand_as(x)
    scalings = 0
    while bool(torch.linalg.matrix_norm(x - identity, 1).max() > 0.25) and scalings < 60:
        x, scalings = _denman_beavers(x), scalings + 1
    ratio = torch.linalg.solve(x + identity, x - identity)
    square, power, total = ratio @ ratio, ratio, ratio
    for k in range(3, 40, 2):
        power = power @ square
        total = total + power / k
    return total * 2.0 ** (scalings + 1)


def _expm_grad(op: Any, grad: Tensor) -> Tensor:
    """The derivative is the upper right block of the exponential of ``[[A', G], [0, A']]``."""
    flipped = adjoint(op.inputs[0])
    top = nodes.concat([flipped, grad], -1)
    bottom = nodes.concat([nodes.zeros_like(flipped), flipped], -1)
    whole = make("MatrixExponential", nodes.concat([top, bottom], -2))
    top_half = make("Split", -2, whole, num_split=2)[0]
    return make("Split", -1, top_half, num_split=2)[1]


def _sqrtm_grad(op: Any, grad: Tensor) -> Tensor:
    """Solves the Sylvester equation ``R' X + X R' = grad`` as one linear system of n^2 unknowns.

    With row-major flattening, ``vec(A X B) = (A kron B^T) vec(X)``.
    """
    root = adjoint(op.outputs[0])
    shape = nodes.shape(root)
    size, batch = nodes.element(shape, -1), nodes.head(shape, -2)
    squared = nodes.mul(size, size)

    def kron(left: Tensor, right: Tensor) -> Tensor:
        rows = make("ExpandDims", make("ExpandDims", left, -1), -3)
        columns = make("ExpandDims", make("ExpandDims", right, -2), -4)
        product = nodes.mul(rows, columns)
        return nodes.reshape(product, nodes.concat([batch, nodes.pack([squared, squared], "m")], 0))

    eye = matrix_diag.eye(size, batch_shape=batch, dtype=root.dtype)
    system = nodes.add(kron(root, eye), kron(eye, matrix_transpose(root)))
    flat = nodes.reshape(grad, nodes.concat([batch, nodes.pack([squared, 1], "v")], 0))
    return nodes.reshape(make("MatrixSolve", system, flat), shape)


for _name, _types, _kernel, _rest in (
    ("MatrixExponential", TYPES, _expm_kernel, {"gradient": _expm_grad}),
    ("MatrixSquareRoot", TYPES, _sqrtm_kernel, {"gradient": _sqrtm_grad}),
    ("MatrixLogarithm", "T: {complex64, complex128}", _logm_kernel,
     {"no_gradient": "TF defines none for MatrixLogarithm"}),
):  # fmt: skip
    define_op(
        _name, "input: T -> output: T", attrs=[_types], shape=square_dims, kernel=_kernel, **_rest
    )


def expm(input: Any, name: str | None = None) -> Tensor:
    """Matrix exponentials of ``[..., n, n]``.

    One MatrixExponential node, where TF 1.15 builds a loop of scalings and squarings.

    Raises:
      ValueError: a dtype other than float16, float32, float64, complex64 and complex128.
    """
    input = convert_to_tensor(input, name="input")
    dtype = input.dtype.base_dtype
    if dtype is dtypes.bfloat16 or not (dtype.is_floating or dtype.is_complex):
        raise ValueError(f"tf.linalg.expm does not support matrices of type {dtype!r}")
    return make("MatrixExponential", input, name=name)


def logm(input: Any, name: str | None = None) -> Tensor:
    """Principal matrix logarithms of complex matrices ``[..., n, n]``."""
    return make("MatrixLogarithm", input, name=name)


def sqrtm(input: Any, name: str | None = None) -> Tensor:
    """Principal square roots of matrices ``[..., n, n]`` without negative real eigenvalues."""
    return make("MatrixSquareRoot", input, name=name)


matrix_square_root = sqrtm
