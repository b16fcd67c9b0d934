"""An optimizer around another that scales the loss, and leaves out steps that are not finite."""

from __future__ import annotations

from typing import Any

from penstock.contrib.mixed_precision.managers import LossScaleManager
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors.dispatched import cast, is_finite, reciprocal, reduce_all
from penstock.ops.control.control import group, no_op
from penstock.training.train.optimizer import Optimizer


class LossScaleOptimizer(Optimizer):
    """Scales the loss before its gradients are computed, and these back.

    Args:
      opt: the optimizer.
      loss_scale_manager: says the scale.
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager) -> None:
        super().__init__(False, "LossScale")
        self._opt, self._manager = opt, loss_scale_manager

    def compute_gradients(
        self, loss: Any, var_list: Any = None, gate_gradients: int = 1,
        aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:  # fmt: skip
        """As ``tf.train.Optimizer.compute_gradients``, by way of the scaled loss."""
        scale = self._manager.get_loss_scale()
        value = loss() if callable(loss) else loss
        pairs = self._opt.compute_gradients(
            value * cast(scale, value.dtype.base_dtype), var_list=var_list,
            gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss,
        )  # fmt: skip
        back = reciprocal(scale)
        return [
            (grad if grad is None else grad * cast(back, grad.dtype.base_dtype), var)
            for grad, var in pairs
        ]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """As ``tf.train.Optimizer.apply_gradients``, where all gradients are finite."""
        pairs = list(grads_and_vars)
        finite = reduce_all([reduce_all(is_finite(grad)) for grad, _ in pairs if grad is not None])

        def apply() -> Any:
            return self._opt.apply_gradients(pairs, global_step, name)

        update = cond(finite, apply, no_op)
        return group(update, self._manager.update_loss_scale(finite))
