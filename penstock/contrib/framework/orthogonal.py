"""Initializers of filters whose convolution keeps the norm of its input.

A filter of size 2 in each dim is made of projections P: it takes P of one neighbour and 1 - P of
the other.  Convolved with each other, k - 1 of those make a filter of size k, of which the first
rows of an orthogonal matrix take as many channels as go in.

Source: Xiao et al., "Dynamical Isometry and a Mean Field Theory of CNNs", algorithms 1 and 2.
"""

from __future__ import annotations

import itertools
from typing import Any

from penstock.foundation.base import dtypes
from penstock.library.ragged_tensors.dispatched import cast, expand_dims, sign, stack
from penstock.library.variables.initializers import Initializer
from penstock.ops.array.reshape import reshape
from penstock.ops.array.scatter import scatter_nd
from penstock.ops.linalg import matrix_diag
from penstock.ops.linalg.linalg_eig import qr
from penstock.ops.linalg.matmul import matmul
from penstock.ops.linalg.matrix_diag import diag_part
from penstock.ops.random.random import random_normal

_Kernel = dict[tuple[int, ...], Any]


class _ConvolutionInitializer(Initializer):
    def __init__(
        self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_floating:
            raise ValueError(f"Expected floating point type, got {dtype}.")
        super().__init__(dtype)
        self.gain, self.seed = gain, seed

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}

    def _orthogonal(self, size: int, dtype: Any, full_matrices: bool = False) -> Any:
        q, r = qr(random_normal([size, size], dtype=dtype, seed=self.seed), full_matrices)
        return q * sign(diag_part(r))


def _check_filters(dims: list[int]) -> None:
    if dims[-2] > dims[-1]:
        raise ValueError(
            f"In_filters cannot be greater than out_filters; found {dims[-2]} and {dims[-1]}."
        )


class convolutional_delta_orthogonal(_ConvolutionInitializer):
    """A filter that is an orthogonal matrix in its middle and zero elsewhere.

    Args:
      gain: multiplies the matrix.
      seed: op-level seed.
      dtype: floating type of the values where the call does not say.
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """The filter [..., in, out], given ``shape`` of three to five dims."""
        dims = list(shape)
        if not 3 <= len(dims) <= 5:
            raise ValueError(
                "The tensor to initialize must be at least three-dimensional and at most"
                f" five-dimensional; found {dims}"
            )
        _check_filters(dims)
        matrix = self._orthogonal(dims[-1], dtype or self.dtype)[: dims[-2], :]
        matrix = matrix * cast(self.gain, matrix.dtype)
        middle = [(size - 1) // 2 for size in dims[:-2]]
        return scatter_nd([middle], expand_dims(matrix, 0), dims)


class _Orthogonal(_ConvolutionInitializer):
    _rank: int
    _rank_name: str

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """The filter [..., in, out], given ``shape``, which is a cube in space."""
        dims = list(shape)
        if len(dims) != self._rank + 2:
            raise ValueError(
                f"The tensor to initialize must be {self._rank_name}-dimensional; found {dims}"
            )
        _check_filters(dims)
        if len(set(dims[:-2])) != 1:
            raise ValueError(f"Kernel sizes must be equal; found {dims[:-2]}.")
        kernel = self._kernel(dims[0], dims[-2], dims[-1])
        return kernel * cast(self.gain, dtype or self.dtype)

    def _drawn(self, size: int) -> Any:
        drawn = self._orthogonal(size, self.dtype)
        if self.seed:
            self.seed += 1
        return drawn

    def _projection(self, size: int) -> Any:
        q = self._drawn(size)
        kept = cast(random_normal([size], seed=self.seed) > 0, self.dtype)
        if self.seed:
            self.seed += 1
        columns = q * kept
        return matmul(columns, columns, transpose_b=True)

    def _pair(self, channels: int) -> _Kernel:
        """A filter of size 2 in each dim."""
        projections = [self._projection(channels) for _ in range(self._rank)]
        eye = matrix_diag.eye(channels, dtype=self.dtype)
        first = 0 if self._rank < 3 else 1
        made: _Kernel = {}
        for place in itertools.product((0, 1), repeat=self._rank):
            product = None
            for side, p in zip(place, projections, strict=True):
                factor = p if side == first else eye - p
                product = factor if product is None else matmul(product, factor)
            made[place] = product
        return made

    def _kernel(self, size: int, channels_in: int, channels_out: int) -> Any:
        first = self._drawn(channels_out)[:channels_in, :]
        if size == 1:
            return reshape(first, [1] * self._rank + [channels_in, channels_out])
        whole = self._pair(channels_out)
        for _ in range(size - 2):
            whole = _convolved(whole, self._pair(channels_out))
        flat = [matmul(first, whole[place]) for place in sorted(whole)]
        return reshape(stack(flat), [size] * self._rank + [channels_in, channels_out])


def _convolved(one: _Kernel, other: _Kernel) -> _Kernel:
    made: _Kernel = {}
    for (p, a), (q, b) in itertools.product(one.items(), other.items()):
        place = tuple(i + j for i, j in zip(p, q, strict=True))
        product = matmul(a, b)
        made[place] = made[place] + product if place in made else product
    return made


class convolutional_orthogonal_1d(_Orthogonal):
    """An orthogonal filter [size, in, out]; see ``convolutional_delta_orthogonal``."""

    _rank, _rank_name = 1, "three"


class convolutional_orthogonal_2d(_Orthogonal):
    """An orthogonal filter [size, size, in, out]; see ``convolutional_delta_orthogonal``."""

    _rank, _rank_name = 2, "four"


class convolutional_orthogonal_3d(_Orthogonal):
    """An orthogonal filter [size, size, size, in, out]; see ``convolutional_delta_orthogonal``."""

    _rank, _rank_name = 3, "five"
