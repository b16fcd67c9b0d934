"""Weights that decay beside the gradient's step, not through the gradient.

Source: Loshchilov and Hutter, "Decoupled Weight Decay Regularization", algorithms 1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.contrib.opt.rows import scatter
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies
from penstock.library.ragged_tensors.dispatched import gather
from penstock.ops.control.control import no_op
from penstock.training.train.adam import AdamOptimizer
from penstock.training.train.momentum import MomentumOptimizer


class DecoupledWeightDecayExtension:
    """Beside an optimizer as base class: shrinks each variable before its update.

    Args:
      weight_decay: what share of a variable goes at each step.
      **kwargs: the optimizer's arguments.
    """

    _use_locking: bool

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._decay_var_list: list[Any] | None = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor: Any = None
        super().__init__(**kwargs)

    def minimize(
        self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = 1,
        aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
        name: str | None = None, grad_loss: Any = None, decay_var_list: Iterable[Any] | None = None,
    ) -> Any:  # fmt: skip
        """As ``tf.train.Optimizer.minimize``.

        Args:
          decay_var_list: accepted; as in TensorFlow 1.15, ``apply_gradients`` alone heeds it.
        """
        base: Any = super()
        return base.minimize(
            loss, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, name=name,
            grad_loss=grad_loss,
        )  # fmt: skip

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None,
        decay_var_list: Iterable[Any] | None = None,
    ) -> Any:  # fmt: skip
        """As ``tf.train.Optimizer.apply_gradients``.

        Args:
          decay_var_list: the variables that decay; default all.
        """
        self._decay_var_list = list(decay_var_list) if decay_var_list else None
        base: Any = super()
        return base.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _prepare(self) -> None:
        decay = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        self._weight_decay_tensor = convert_to_tensor(decay, name="weight_decay")
        base: Any = super()
        base._prepare()

    def _decays(self, var: Any) -> bool:
        return self._decay_var_list is None or any(var is v for v in self._decay_var_list)

    def _decay_weights_op(self, var: Any) -> Any:
        if not self._decays(var):
            return no_op()
        return var.assign_sub(self._weight_decay * var, self._use_locking)

    def _decay_weights_sparse_op(self, var: Any, indices: Any) -> Any:
        if not self._decays(var):
            return no_op()
        update = -self._weight_decay * gather(var, indices)
        return scatter("Add", var, indices, update, self._use_locking)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        base: Any = super()
        with control_dependencies([self._decay_weights_op(var)]):
            return base._apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        base: Any = super()
        with control_dependencies([self._decay_weights_op(handle)]):
            return base._resource_apply_dense(grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        base: Any = super()
        with control_dependencies([self._decay_weights_sparse_op(var, grad.indices)]):
            return base._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        base: Any = super()
        with control_dependencies([self._decay_weights_sparse_op(handle, indices)]):
            return base._resource_apply_sparse(grad, handle, indices)


def extend_with_decoupled_weight_decay(base_optimizer: type[Any]) -> type[Any]:
    """A subclass of an optimizer's class, with a decay of weights.

    Args:
      base_optimizer: the class.

    Returns:
      A class whose first argument is ``weight_decay``; the others are given by name.
    """

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[misc]
        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(weight_decay, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with a decay of weights.

    Args:
      weight_decay: what share of a variable goes at each step.
      learning_rate, momentum, use_locking, name, use_nesterov: those of
        ``tf.train.MomentumOptimizer``.
    """

    def __init__(
        self, weight_decay: Any, learning_rate: Any, momentum: Any, use_locking: bool = False,
        name: str = "MomentumW", use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            weight_decay, learning_rate=learning_rate, momentum=momentum, use_locking=use_locking,
            name=name, use_nesterov=use_nesterov,
        )  # fmt: skip


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with a decay of weights.

    Args:
      weight_decay: what share of a variable goes at each step.
      learning_rate, beta1, beta2, epsilon, use_locking, name: those of
        ``tf.train.AdamOptimizer``.
    """

    def __init__(
        self, weight_decay: Any, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
        epsilon: Any = 1e-8, use_locking: bool = False, name: str = "AdamW",
    ) -> None:  # fmt: skip
        super().__init__(
            weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
            use_locking=use_locking, name=name,
        )  # fmt: skip
