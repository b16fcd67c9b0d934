"""Circulant operators of one, two and three dims: diagonal in the Fourier basis.

A vector of the operator is a tensor of the block's dims, row-major; the operator transforms it,
multiplies by the spectrum, and transforms back.  All is computed in complex numbers, and what goes
out is cast to the dtype of the operator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.linear_operators import arguments, dense
from penstock.library.linear_operators.operator import LinearOperator
from penstock.ops.array import nodes, reshape
from penstock.ops.control import check
from penstock.ops.linalg import linalg
from penstock.ops.math import reduction, reductions
from penstock.ops.signal import fft

_FORWARD = {1: fft.fft, 2: fft.fft2d, 3: fft.fft3d}
_BACKWARD = {1: fft.ifft, 2: fft.ifft2d, 3: fft.ifft3d}


def complex_of(x: Tensor, dtype: Any) -> Tensor:
    """``x`` as complex numbers of the precision of ``dtype``."""
    wide = dtype in (dtypes.float64, dtypes.complex128)
    return nodes.cast(x, dtypes.complex128 if wide else dtypes.complex64)


def narrowed(x: Tensor, dtype: Any) -> Tensor:
    """Complex ``x`` in the dtype of an operator: its real part where that is real."""
    if not dtype.is_complex:
        x = make("Real", x, Tout=x.dtype.real_dtype)
    return nodes.cast(x, dtype)


class _Circulant(LinearOperator):
    """What circulant operators of any number of dims share."""

    _block_depth: int

    def __init__(
        self,
        spectrum: Any,
        block_depth: int,
        input_output_dtype: Any,
        hints: tuple[bool | None, ...],
        name: str,
    ) -> None:
        is_non_singular, is_self_adjoint, is_positive_definite, is_square = hints
        self._block_depth = block_depth
        with name_scope(name, values=[spectrum]):
            self._spectrum: Tensor = convert_to_tensor(
                arguments.array(spectrum, "spectrum", block_depth)
            )
            if not self._spectrum.dtype.is_complex:
                is_self_adjoint = arguments.implied(
                    "is_self_adjoint", is_self_adjoint, True, "the spectrum is real"
                )
            is_square = arguments.implied(
                "is_square", is_square, True, "a circulant matrix is square"
            )
            super().__init__(
                input_output_dtype, [self._spectrum], is_non_singular, is_self_adjoint,
                is_positive_definite, is_square, name,
            )  # fmt: skip

    @property
    def block_depth(self) -> int:
        """The number of dims that are transformed: 1, 2 or 3."""
        return self._block_depth

    @property
    def spectrum(self) -> Tensor:
        """The Fourier transform of the convolution kernel, ``[B1, ..., Bb, N1, ...]``."""
        return self._spectrum

    @property
    def block_shape(self) -> shapes.TensorShape:
        """The static shape of the block."""
        if self._spectrum.sizes is None:
            return shapes.unknown_shape(self.block_depth)
        return self._spectrum.shape[-self.block_depth :]

    def block_shape_tensor(self) -> Tensor:
        """The shape of the block as an int32 vector."""
        with self._name_scope("block_shape_tensor"):
            shape: Tensor = self._block_tensor()
            return shape

    def _block_tensor(self) -> Any:
        sizes: Any = nodes.shape(self._spectrum)
        return dense.concat_shapes(sizes[-self.block_depth :])

    def _shape(self) -> Any:
        size = self.block_shape.num_elements()
        if self._spectrum.sizes is None:
            return shapes.unknown_shape()
        return self._spectrum.shape[: -self.block_depth].concatenate([size, size])

    def _shape_tensor(self) -> Any:
        sizes: Any = nodes.shape(self._spectrum)
        whole = make("Prod", self._block_tensor(), 0)
        return dense.concat_shapes(sizes[: -self.block_depth], [whole, whole])

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """The kernel that the operator convolves with: the spectrum, transformed back."""
        with self._name_scope(name):
            kernel = _BACKWARD[self.block_depth](complex_of(self._spectrum, self.dtype))
            return narrowed(kernel, self.dtype)

    # ---- assertions ----------------------------------------------------------------------------

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Operation:
        """Asserts that the spectrum is Hermitian: that the operator is real.

        Returns:
          An operation that raises ``tf.errors.InvalidArgumentError`` where it is not.
        """
        with self._name_scope(name):
            kernel = _BACKWARD[self.block_depth](complex_of(self._spectrum, self.dtype))
            imaginary = make("Abs", dense.imaginary(kernel))
            size = nodes.cast(self._dimension_along(-1), imaginary.dtype)
            epsilon = float(np.finfo(imaginary.dtype.as_numpy_dtype).eps)
            return check.assert_less(
                imaginary,
                nodes.mul(5 * epsilon, size),
                message="the spectrum is not Hermitian: its kernel has an imaginary part",
            )

    def _assert_non_singular(self) -> Operation:
        return arguments.assert_no_zeros(
            self._spectrum, "the matrix is singular: a zero in its spectrum"
        )

    def _assert_positive_definite(self) -> Operation:
        return check.assert_positive(
            dense.real(self._spectrum),
            message="the matrix is not positive definite: a real part of its spectrum is <= 0",
        )

    def _assert_self_adjoint(self) -> Operation:
        return arguments.assert_real(
            self._spectrum,
            "the matrix is not self-adjoint: an imaginary part of its spectrum is not 0",
        )

    # ---- products and solutions ----------------------------------------------------------------

    def _through_spectrum(self, x: Any, adjoint_arg: bool, factors: Tensor) -> Any:
        """``x``, transformed, multiplied by ``factors``, and transformed back."""
        depth = self.block_depth
        rows = dense.conj(x) if adjoint_arg else linalg.matrix_transpose(x)
        sizes = [dense.last_size(self._spectrum, axis) for axis in range(-depth, 0)]
        vectors = dense.reshape_last(complex_of(rows, self.dtype), 1, sizes)
        factors = reshape.expand_dims(factors, -(depth + 1))
        made = _BACKWARD[depth](nodes.mul(_FORWARD[depth](vectors), factors))
        flat = dense.reshape_last(made, depth, [self._size_along(-1)])
        return narrowed(linalg.matrix_transpose(flat), self.dtype)

    def factors(self, adjoint: bool) -> Any:
        spectrum = complex_of(self._spectrum, self.dtype)
        return dense.conj(spectrum) if adjoint else spectrum

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._through_spectrum(x, adjoint_arg, self.factors(adjoint))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        inverse = make("Reciprocal", self.factors(adjoint))
        return self._through_spectrum(rhs, adjoint_arg, inverse)

    # ---- numbers and tensors made of it --------------------------------------------------------

    def _block_axes(self) -> list[int]:
        return list(range(-self.block_depth, 0))

    def _determinant(self) -> Any:
        return self._cast(reductions.reduce_prod(self._spectrum, axis=self._block_axes()))

    def _log_abs_determinant(self) -> Any:
        total = reduction.reduce_sum(dense.log_abs(self._spectrum), axis=self._block_axes())
        return self._cast(total)

    def _trace(self) -> Any:
        return self._cast(reduction.reduce_sum(self._spectrum, axis=self._block_axes()))

    def _cast(self, x: Tensor) -> Any:
        if x.dtype.is_complex:
            return narrowed(x, self.dtype)
        return nodes.cast(x, self.dtype)

    def _diag_part(self) -> Any:
        mean = nodes.div(self.trace(), nodes.cast(self._dimension_along(-1), self.dtype))
        ones = dense.filled(
            dense.concat_shapes([self._size_along(-1)]), self.shape[-1:], 1, self.dtype
        )
        return nodes.mul(reshape.expand_dims(mean, -1), ones)


_DOC = """{what} by their spectra.

    Args:
      spectrum: floating or complex tensor ``[B1, ..., Bb, {dims}]``: the Fourier transform of the
        convolution kernel, which is the diagonal of the operator in the Fourier basis.
      input_output_dtype: dtype of the operator; what it computes is cast to it. A real one asks
        for a Hermitian spectrum, whose operator is real.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see
        ``LinearOperator``. Real spectra are of self-adjoint operators.

    Raises:
      TypeError: another dtype.
      ValueError: fewer dims, or hints that cannot be.
    """


class LinearOperatorCirculant(_Circulant):
    __doc__ = (
        _DOC.format(what="A batch of circulant matrices, given", dims="N")
        + """
    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     operator = tf.linalg.LinearOperatorCirculant([6.0, 2.0], tf.float32)
      ...     session.run(operator.to_dense()).tolist()
      [[4.0, 2.0], [2.0, 4.0]]
    """
    )

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(spectrum, 1, input_output_dtype, hints, name)


class LinearOperatorCirculant2D(_Circulant):
    __doc__ = _DOC.format(
        what="A batch of block circulant matrices, whose blocks are circulant, given", dims="N1, N2"
    )

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant2D",
    ) -> None:
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(spectrum, 2, input_output_dtype, hints, name)


class LinearOperatorCirculant3D(_Circulant):
    __doc__ = _DOC.format(
        what="A batch of circulant matrices nested in two levels of blocks, given",
        dims="N1, N2, N3",
    )

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant3D",
    ) -> None:
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(spectrum, 3, input_output_dtype, hints, name)
