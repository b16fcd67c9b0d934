"""GGT (Agarwal et al., 2018): full-matrix preconditioning with the last few gradients.

With the columns of G the last ``window`` mean gradients, over the root of their number, a step
goes along ``(G G^T)^(-1/2)`` times the mean gradient.  All is done with the small matrix
``G^T G = U diag(s) U^T``; what of the gradient is not in G's span counts by the smallest of the
singular values, if that is not too small.  All variables are one vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.gradients import gradients
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors.dispatched import (
    cast,
    expand_dims,
    greater,
    minimum,
    mod,
    pow_,
    reduce_min,
    sqrt,
)
from penstock.library.variables.listing import trainable_variables
from penstock.ops.array.fill import zeros
from penstock.ops.array.ranges import range_
from penstock.ops.array.reshape import reshape
from penstock.ops.array.transpose import transpose
from penstock.ops.control.control import group
from penstock.ops.linalg.linalg_eig import svd
from penstock.ops.linalg.matmul import matmul
from penstock.ops.linalg.matrix_diag import diag, eye
from penstock.ops.state.state import assign
from penstock.ops.state.state_scatter import scatter_update
from penstock.ops.state.state_update import assign_add, assign_sub
from penstock.training.train.optimizer import Optimizer


class GGTOptimizer(Optimizer):
    """Adaptive steps by the full matrix of the last gradients (Agarwal et al., 2018).

    Args:
      learning_rate: size of steps; a float, tensor or function.
      beta1: decay of the mean of gradients; a float, tensor or function.
      use_locking: whether updates take the variable's lock.
      name: name scope.
      window: how many gradients are looked at.
      eps: where the smallest singular value is not above it, nothing is done outside of their span.
      svd_eps: added to the diagonal of the small matrix.
      sigma_eps: added to singular values.
    """

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, use_locking: bool = False,
        name: str = "GGT", window: int = 10, eps: Any = 1e-4, svd_eps: Any = 1e-6,
        sigma_eps: Any = 1e-2,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._window = window
        self._given = {
            "lr": learning_rate, "beta1": beta1, "window": window, "eps": eps, "svd_eps": svd_eps,
            "sigma_eps": sigma_eps,
        }  # fmt: skip
        self._hyper: dict[str, Tensor] = {}
        # Where each variable lies in the vector of all, and how long that is.
        self._places: dict[Any, tuple[int, int]] = {}
        self._size = 0
        self._first: Any = None

    def minimize(  # type: ignore[override]
        self, loss: Any, global_step: Any = None, var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
        name: str | None = None, grad_loss: Any = None, stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> Any:  # fmt: skip
        """As ``tf.train.Optimizer.minimize``.

        Args:
          loss .. grad_loss: as there.
          stop_gradients: tensors that gradients do not go through.
          scale_loss_by_num_replicas: whether the loss is divided by the number of replicas; there
            is one.
        """
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, grad_loss, stop_gradients,
            scale_loss_by_num_replicas,
        )  # fmt: skip
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(  # type: ignore[override]
        self, loss: Any, var_list: Any = None, gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None, grad_loss: Any = None, stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> Any:  # fmt: skip
        """As ``tf.train.Optimizer.compute_gradients``; arguments as of ``minimize``."""
        if stop_gradients is None:
            return super().compute_gradients(
                loss, var_list, gate_gradients, aggregation_method, grad_loss=grad_loss
            )
        variables = var_list or trainable_variables()
        grads = gradients(
            loss, variables, grad_ys=grad_loss, stop_gradients=stop_gradients,
            gate_gradients=gate_gradients == Optimizer.GATE_OP,
            aggregation_method=aggregation_method,
        )  # fmt: skip
        return list(zip(grads, variables, strict=True))

    def _prepare(self) -> None:
        """All is made with the slots, which need it."""

    def _create_slots(self, var_list: Any) -> None:
        self._hyper = {}
        with name_scope(f"{self._name}/"):
            for name in sorted(self._given):
                value = self._call_if_callable(self._given[name])
                self._hyper[name] = convert_to_tensor(value, name=name)
        self._places, self._size = {}, 0
        for var in var_list:
            count = int(np.prod(var.get_shape().as_list(), dtype=np.int64))
            self._places[var] = (self._size, self._size + count)
            self._size += count
        self._first = min(var_list, key=lambda v: str(v.name))
        self._own("global_step", lambda: cast(0.0, dtypes.float32))
        self._own("grad_buffer", lambda: zeros([self._hyper["window"], self._size]))
        self._own("moment1", lambda: zeros([self._size]))
        self._own("flat_grad", lambda: zeros([self._size]))

    def _own(self, name: str, value: Callable[[], Any]) -> None:
        if self._get_non_slot_variable(name, self._first.graph) is None:
            self._create_non_slot_variable(value(), name, self._first)

    def _state(self, name: str) -> Any:
        return self._get_non_slot_variable(name, self._first.graph)

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        first, last = self._places[var]
        flat = self._state("flat_grad")
        update = scatter_update(
            flat, range_(first, last), reshape(grad, [-1]), use_locking=True
        )  # fmt: skip
        return getattr(update, "op", update)

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        return self._apply_dense(grad, handle)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        flattened = group(*update_ops)
        with control_dependencies([flattened]):
            step = self._direction()
            updates = []
            for var, (first, last) in self._places.items():
                part = reshape(step[first:last], var.get_shape().as_list())
                updates.append(assign_sub(var, self._hyper["lr"] * part))
        return group(flattened, *updates)

    def _direction(self) -> Tensor:
        """What the variables move along, times minus the learning rate: [size, 1]."""
        hyper, moment = self._hyper, self._state("moment1")
        count = assign_add(self._state("global_step"), 1.0)
        beta1 = hyper["beta1"]
        mean = assign(
            moment, beta1 * moment + (1.0 - beta1) * self._state("flat_grad"), use_locking=False
        )
        row = mod(cast(count - 1.0, dtypes.int32), hyper["window"])
        buffer = scatter_update(self._state("grad_buffer"), row, mean, use_locking=True)
        filled = sqrt(minimum(count, cast(hyper["window"], dtypes.float32)))
        column = expand_dims(mean, -1)
        last = transpose(buffer / filled, [1, 0])
        small = matmul(last, last, transpose_a=True)
        s, u, _ = svd(small + eye(hyper["window"]) * hyper["svd_eps"])
        sigma = sqrt(s)
        smallest = reduce_min(sigma)
        inverse = cast(1.0, dtypes.float32) / pow_(sigma + hyper["sigma_eps"], 3)
        nothing = expand_dims(zeros([self._size]), -1)
        within = _through(last, u, inverse, column)
        outside = column - _through(last, u, cast(1.0, dtypes.float32) / s, column)
        outside = outside / smallest
        found: Tensor = cond(
            greater(smallest, hyper["eps"]),
            lambda: make("Add", within, outside),
            lambda: make("Add", nothing, within),
        )
        return found


def _through(last: Tensor, u: Tensor, factors: Tensor, column: Tensor) -> Tensor:
    """``G U diag(factors) U^T G^T column``."""
    scaled = diag(factors)
    turned = matmul(u, matmul(last, column, transpose_a=True), transpose_a=True)
    return matmul(last, matmul(u, matmul(scaled, turned)))
