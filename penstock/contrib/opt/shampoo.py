"""Shampoo: gradients multiplied, dim by dim, by roots of the summed products of gradients.

For a variable of rank r, G_i sums the products of gradients over all dims but i; the step is the
gradient times ``G_i^(-alpha / r)`` in each dim.  A dim above ``max_matrix_size`` has a vector in
place of a matrix.

Source: Gupta, Koren and Singer, "Shampoo: Preconditioned Stochastic Tensor Optimization",
algorithms 1 and 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.contrib.opt.rows import scatter
from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.scopes import name_scope
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors.dispatched import (
    cast,
    expand_dims,
    floormod,
    gather,
    greater,
    identity,
    less,
    maximum,
    pow_,
    reduce_sum,
    where,
    zeros_like,
)
from penstock.ops.array.fill import zeros
from penstock.ops.array.scatter import scatter_nd
from penstock.ops.array.shape import shape
from penstock.ops.array.transpose import transpose
from penstock.ops.linalg.contraction import tensordot
from penstock.ops.linalg.linalg_eig import svd
from penstock.ops.linalg.matmul import matmul
from penstock.ops.linalg.matrix_diag import eye
from penstock.ops.state.state import assign
from penstock.ops.state.state_update import assign_add, assign_sub
from penstock.training.train.optimizer import Optimizer


class ShampooOptimizer(Optimizer):
    """Shampoo.

    Args:
      global_step: the number of steps so far.
      max_matrix_size: the greatest dim that has a matrix.
      gbar_decay, gbar_weight: decay of the running sum of gradients, and weight of a new one.
      mat_gbar_decay, mat_gbar_weight: those of the sums of products.
      learning_rate: float, scalar tensor, or a function of the step, as the decays and weights.
      svd_interval: how many steps a root is kept.
      precond_update_interval: how many steps there are between updates of the sums of products.
      epsilon: added to the diagonals.
      alpha: the sum of the powers.
      use_iterative_root: must be False: roots come from singular values.
      use_locking: whether updates take the variable's lock.
      name: name of the training op; slots are ``W/Shampoo``, ``W/Shampoo_1`` and so on.

    Raises:
      NotImplementedError: ``use_iterative_root``.
    """

    def __init__(
        self, global_step: Any = 0, max_matrix_size: int = 768, gbar_decay: Any = 0.0,
        gbar_weight: Any = 1.0, mat_gbar_decay: Any = 1.0, mat_gbar_weight: Any = 1.0,
        learning_rate: Any = 1.0, svd_interval: Any = 1, precond_update_interval: Any = 1,
        epsilon: float = 1e-4, alpha: Any = 0.5, use_iterative_root: bool = False,
        use_locking: bool = False, name: str = "Shampoo",
    ) -> None:  # fmt: skip
        if use_iterative_root:
            raise NotImplementedError(
                "use_iterative_root=True: roots are computed from singular values here"
            )
        super().__init__(use_locking, name)
        self._step: Any = cast(global_step, dtypes.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar = gbar_decay, gbar_weight
        self._mat_gbar = mat_gbar_decay, mat_gbar_weight
        self._learning_rate, self._alpha, self._epsilon = learning_rate, alpha, epsilon
        self._svd_interval, self._interval = svd_interval, precond_update_interval

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            with scopes.colocate_with(var):
                self._zeros_slot(var, "gbar", self._name)
                for i, size in enumerate(var.get_shape().as_list()):
                    if size > self._max_matrix_size:
                        start: Any = zeros([size])
                    else:
                        start = zeros([size, size])
                        if self._svd_interval > 1:
                            self._get_or_make_slot(var, eye(size), f"H_{i}", self._name)
                    self._get_or_make_slot(var, start, f"Gbar_{i}", self._name)

    def _at(self, given: Any) -> Any:
        """A hyper-parameter at this step."""
        return given(self._step + 1) if callable(given) else given

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._moved(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._moved(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._moved_sparse(grad.values, grad.indices, var)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._moved_sparse(grad, indices, handle)

    def _moved_sparse(self, rows: Any, indices: Any, var: Any) -> Any:
        if var.get_shape().as_list()[0] > self._max_matrix_size and self._gbar[0] == 0.0:
            return self._moved(rows, var, indices)
        dims = shape(var, out_type=indices.dtype)
        return self._moved(scatter_nd(expand_dims(indices, 1), rows, dims), var)

    def _averaged(self, var: Any, decay: Any, added: Any) -> Any:
        """``var = decay var + added``, and its value; one that is forgotten is not kept."""
        if decay == 0.0:
            return added
        if decay == 1.0:
            return assign_add(var, added)
        return var.assign_add((self._at(decay) - 1) * var + added)

    def _moved(self, grad: Any, var: Any, indices: Any = None) -> Any:
        step = grad
        if indices is None:
            decay, weight = self._gbar
            step = self._averaged(self.get_slot(var, "gbar"), decay, self._at(weight) * grad)
        dims = var.get_shape().as_list()
        for i, size in enumerate(dims):
            if size <= self._max_matrix_size:
                root = self._matrix_root(grad, var, i, dims)
                step = tensordot(step, root, axes=([0], [0]), name=f"precond_{i}")
            else:
                scale = self._vector_root(grad, var, i, dims, indices)
                step = transpose(step, [*range(1, len(dims)), 0]) * scale
        rate = self._at(self._learning_rate)
        if indices is not None:
            return scatter("Add", var, indices, -rate * step, self._use_locking)
        return assign_sub(var, rate * step)

    def _power(self, rank: int) -> Any:
        return -self._at(self._alpha) / rank

    def _matrix_root(self, grad: Any, var: Any, i: int, dims: list[int]) -> Any:
        others = [k for k in range(len(dims)) if k != i]
        slot = self.get_slot(var, f"Gbar_{i}")
        decay, weight = self._mat_gbar
        interval = self._at(self._interval)

        def updated() -> Any:
            product = tensordot(grad, grad, axes=(others, others), name=f"grad_outer_{i}")
            return identity(self._averaged(slot, decay, self._at(weight) * interval * product))

        now = less(floormod(self._step + 1, interval), 1)
        summed: Any = cond(now, updated, lambda: identity(slot))
        summed = summed / float(dims[i])
        if self._svd_interval == 1:
            return self._root(summed, dims[i], len(dims))
        kept = self.get_slot(var, f"H_{i}")
        return cond(
            less(floormod(self._step + 1, self._at(self._svd_interval)), 1),
            lambda: identity(assign(kept, self._root(summed, dims[i], len(dims)))),
            lambda: identity(kept),
        )

    def _root(self, matrix: Any, size: int, rank: int) -> Any:
        power = self._power(rank)
        with name_scope("matrix_iterative_power"):
            if size == 1:
                return pow_(matrix + self._epsilon, power)
            values, left, right = svd(matrix + self._epsilon * eye(size), full_matrices=True)
            powers = pow_(maximum(values, self._epsilon), power)
            return matmul(right * powers, transpose(left))

    def _vector_root(self, grad: Any, var: Any, i: int, dims: list[int], indices: Any) -> Any:
        others = [k for k in range(len(dims)) if k != i]
        slot = self.get_slot(var, f"Gbar_{i}")
        decay, weight = self._mat_gbar
        squares: Any = grad * grad
        if others:
            divisor = 1.0 if indices is not None else float(dims[i])
            squares = reduce_sum(squares, axis=others) / divisor
        added = self._at(weight) * squares
        if i == 0 and indices is not None:
            summed = gather(scatter("Add", slot, indices, added), indices)
        else:
            summed = self._averaged(slot, decay, added)
        powers = pow_(summed, self._power(len(dims)))
        return where(greater(summed, 0), powers, zeros_like(summed))
