"""``LinearOperatorLowRankUpdate``: an operator plus a product of thin matrices.

Solving and determinants go through the capacitance ``C = D^-1 + V^H L^-1 U``, which is as small as
the update's rank (the lemmas of Woodbury and of the matrix determinant)::

    (L + U D V^H)^-1 = L^-1 - L^-1 U C^-1 V^H L^-1
    det(L + U D V^H) = det(C) det(D) det(L)
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.linear_operators import arguments, dense
from penstock.library.linear_operators.diagonal import LinearOperatorDiag
from penstock.library.linear_operators.identity import LinearOperatorIdentity
from penstock.library.linear_operators.operator import LinearOperator
from penstock.ops.array import nodes
from penstock.ops.linalg import linalg
from penstock.ops.linalg.matmul import matmul as dense_matmul


class LinearOperatorLowRankUpdate(LinearOperator):
    """``L + U D V^H``, where U and V are thin and D is diagonal.

    Args:
      base_operator: L: a LinearOperator ``[B1, ..., Bb, M, N]``, with a solution that is cheap.
      u: tensor ``[B1, ..., Bb, M, K]`` of its dtype.
      diag_update: the diagonals of D, ``[B1, ..., Bb, K]``; ones by default.
      v: tensor ``[B1, ..., Bb, N, K]``; ``u`` by default.
      is_diag_update_positive: whether the diagonals of D are positive.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; what follows from
        those of L and D holds by default.

    Raises:
      ValueError: shapes that do not fit, or hints that contradict what follows.
    """

    _u = arguments.Held()
    _v = arguments.Held()

    def __init__(
        self,
        base_operator: LinearOperator,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(
                    "is_diag_update_positive is False, but without diag_update the diagonal is ones"
                )
            is_diag_update_positive = True
        self._base_operator = base_operator
        self._is_diag_update_positive = is_diag_update_positive
        with name_scope(name, values=[*base_operator.graph_parents, u, diag_update, v]):
            self._take(u, v, diag_update)
            hints = self._implied(
                v is None, is_non_singular, is_self_adjoint, is_positive_definite, is_square
            )
            own = (arguments.given(self, part) for part in ("_u", "_diag_update", "_v"))
            parents = [*base_operator.graph_parents, *own]
            super().__init__(
                base_operator.dtype, [p for p in parents if p is not None], name=name, **hints
            )
            self._check_shapes()

    def _take(self, u: Any, v: Any, diag_update: Any) -> None:
        dtype = self._base_operator.dtype
        self._u = arguments.array(u, "u", 2)
        self._v = arguments.given(self, "_u") if v is None else arguments.array(v, "v", 2)
        for tensor, what in ((self._u, "u"), (self._v, "v")):
            _check_dtype(tensor, dtype, what)
        self._diag_update_given: Any = None
        if diag_update is not None:
            held = self._diag_update_given = arguments.array(diag_update, "diag_update", 1)
            _check_dtype(held, dtype, "diag_update")
            self._diag_operator: LinearOperator = LinearOperatorDiag(
                held, is_positive_definite=self._is_diag_update_positive
            )
        else:
            self._diag_operator = LinearOperatorIdentity(dense.last_size(self._u, -1), dtype=dtype)

    def _implied(self, same: bool, *hints: bool | None) -> dict[str, Any]:
        """The hints, with those that follow from L and D."""
        is_non_singular, is_self_adjoint, is_positive_definite, is_square = hints
        base = self._base_operator
        if self._use_cholesky():
            why = "base_operator and the update are self-adjoint and positive definite"
            is_non_singular = arguments.implied("is_non_singular", is_non_singular, True, why)
            is_positive_definite = arguments.implied(
                "is_positive_definite", is_positive_definite, True, why
            )
            is_self_adjoint = arguments.implied("is_self_adjoint", is_self_adjoint, True, why)
        if same and base.is_self_adjoint and not base.dtype.is_complex:
            why = "base_operator is self-adjoint, and so is the update: v is u, and all is real"
            is_self_adjoint = arguments.implied("is_self_adjoint", is_self_adjoint, True, why)
        return {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
            "is_square": is_square,
        }

    def _check_shapes(self) -> None:
        base = self._base_operator
        if self._u.sizes is not None:
            base.range_dimension.assert_is_compatible_with(self._u.shape[-2])
        if self._v.sizes is not None:
            base.domain_dimension.assert_is_compatible_with(self._v.shape[-2])
        ranks = [x.shape[-1] for x in (self._u, self._v) if x.sizes is not None]
        for rank in (*ranks[1:], self._diag_operator.range_dimension) if ranks else ():
            ranks[0].assert_is_compatible_with(rank)
        self._shape()

    @property
    def u(self) -> Any:
        """U, as given."""
        return arguments.given(self, "_u")

    @property
    def v(self) -> Any:
        """V, as given; U where it was not."""
        return arguments.given(self, "_v")

    @property
    def is_diag_update_positive(self) -> bool | None:
        """The hint: whether the diagonals of D are positive."""
        return self._is_diag_update_positive

    @property
    def diag_update(self) -> Any:
        """The diagonals of D, as given; None where D is the identity."""
        return arguments.given(self, "_diag_update")

    @property
    def diag_operator(self) -> LinearOperator:
        """D, as an operator."""
        return self._diag_operator

    @property
    def base_operator(self) -> LinearOperator:
        """L."""
        return self._base_operator

    # ---- shapes --------------------------------------------------------------------------------

    def _shape(self) -> Any:
        batch = dense.common_batch(
            [
                self.base_operator.batch_shape, self.diag_operator.batch_shape,
                self._u.shape[:-2], self._v.shape[:-2],
            ]
        )  # fmt: skip
        return batch.concatenate(self.base_operator.shape[-2:])

    def _shape_tensor(self) -> Any:
        batch = dense.common_batch_tensor(
            [
                self.base_operator.batch_shape_tensor(), self.diag_operator.batch_shape_tensor(),
                nodes.head(nodes.shape(self._u), -2), nodes.head(nodes.shape(self._v), -2),
            ]
        )  # fmt: skip
        base: Any = self.base_operator.shape_tensor()
        return dense.concat_shapes(batch, base[-2:])

    # ---- products and solutions ----------------------------------------------------------------

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        whole = self.base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        thin = dense_matmul(right, x, adjoint_a=True, adjoint_b=adjoint_arg)
        thin = self.diag_operator.matmul(thin, adjoint=adjoint)
        return nodes.add(whole, dense_matmul(left, thin))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        base = self.base_operator
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        first = base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        thin = dense_matmul(right, first, adjoint_a=True)
        if self._use_cholesky():
            thin = dense.cholesky_solve(linalg.cholesky(self._capacitance()), thin)
        else:
            thin = dense.solve(self._capacitance(), thin, adjoint=adjoint)
        back = base.solve(dense_matmul(left, thin), adjoint=adjoint)
        return nodes.sub(first, back)

    def _capacitance(self) -> Any:
        """``D^-1 + V^H L^-1 U``."""
        inner = dense_matmul(self._v, self.base_operator.solve(self._u), adjoint_a=True)
        return self.diag_operator.inverse().add_to_tensor(inner)

    def _use_cholesky(self) -> bool:
        """Whether the capacitance is known to be self-adjoint and positive definite."""
        base = self.base_operator
        return bool(
            arguments.given(self, "_u") is arguments.given(self, "_v")
            and base.is_positive_definite
            and base.is_self_adjoint
            and self._is_diag_update_positive
        )

    def _determinant(self) -> Any:
        parts = self.diag_operator.determinant() * self.base_operator.determinant()
        if self._use_cholesky():
            diagonal = make("MatrixDiagPart", linalg.cholesky(self._capacitance()))
            small = make("Prod", nodes.mul(diagonal, diagonal), [-1])
        else:
            small = linalg.matrix_determinant(self._capacitance())
        return small * parts

    def _log_abs_determinant(self) -> Any:
        parts = (
            self.diag_operator.log_abs_determinant(), self.base_operator.log_abs_determinant(),
        )  # fmt: skip
        if self._use_cholesky():
            diagonal = make("MatrixDiagPart", linalg.cholesky(self._capacitance()))
            small = nodes.mul(2, make("Sum", dense.log_abs(diagonal), [-1]))
        else:
            small = linalg.slogdet(self._capacitance())[1]
        return dense.added([small, *parts])


def _check_dtype(tensor: Tensor, dtype: Any, name: str) -> None:
    if tensor.dtype.base_dtype is not dtype:
        raise TypeError(
            f"{name} must have the dtype of base_operator, {dtype.name}; found {tensor.dtype.name}"
        )
