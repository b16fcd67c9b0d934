"""An optimizer that multiplies the loss for the gradients' sake, and mixed precision's switch."""

from __future__ import annotations

import logging
from typing import Any

from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.ops.control import control
from penstock.training.distribute import context as distribution
from penstock.training.train import loss_scale as scales
from penstock.training.train.optimizer import Optimizer

_log = logging.getLogger("penstock")


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """Scales the loss, divides the gradients by the scale, and leaves the rest to an optimizer.

    A step whose gradients are not all finite is left out where the scale is dynamic: neither the
    variables nor the global step change.

    Args:
      opt: the optimizer.
      loss_scale: an int or float, ``"dynamic"``, or a ``LossScale``.

    Raises:
      ValueError: ``opt`` is no optimizer, or ``loss_scale`` none of these.
    """

    def __init__(self, opt: Optimizer, loss_scale: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer = opt
        found = scales.get(loss_scale)
        if found is None:
            raise ValueError("loss_scale must be a number, 'dynamic' or a LossScale; found None")
        self._loss_scale = found
        self._checkpoint_dependencies = [("base_optimizer", opt), ("loss_scale", found)]

    def compute_gradients(
        self, loss: Any, var_list: Any = None, gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:  # fmt: skip
        """As ``Optimizer.compute_gradients``; the loss may be a function that returns it."""
        pairs = self._optimizer.compute_gradients(
            self._scaled(loss), var_list, gate_gradients, aggregation_method,
            colocate_gradients_with_ops, grad_loss,
        )  # fmt: skip
        reciprocal = 1.0 / self._loss_scale()
        return [(g if g is None else _times(g, reciprocal), v) for g, v in pairs]

    def _scaled(self, loss: Any) -> Any:
        scale = self._loss_scale()
        if callable(loss):
            return lambda: loss() * scale
        return loss * scale

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Applies gradients, where the scale is dynamic only if all are finite.

        Args:
          grads_and_vars: pairs as ``compute_gradients`` gives them.
          global_step: variable to count up after the updates, where they are applied.
          name: name of the returned op; default the optimizer's.

        Returns:
          The op.

        Raises:
          ValueError: outside a replica, in the scope of a strategy.
        """
        if distribution.in_cross_replica_context():
            raise ValueError("apply_gradients() must be called in a replica context.")
        if not isinstance(self._loss_scale, scales.DynamicLossScale):
            return self._optimizer.apply_gradients(grads_and_vars, global_step, name)
        pairs, name = tuple(grads_and_vars), name or self.get_name()
        adapted, applies = self._loss_scale.update([grad for grad, _ in pairs])

        def apply() -> Any:
            made = self._optimizer.apply_gradients(pairs, global_step, f"{name}-wrapped")
            return made.op if isinstance(made, Tensor) else made

        return control.group(cond(applies, apply, control.no_op), adapted, name=name)


def _times(grad: Any, factor: Tensor) -> Any:
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
    return grad * factor


class _Rewrite:
    """Whether mixed precision is switched on in this process."""

    enabled = False


def enable_mixed_precision_graph_rewrite(opt: Optimizer, loss_scale: Any = "dynamic") -> Any:
    """Switches mixed precision on, and gives the optimizer a loss scale.

    TensorFlow computes parts of graphs on GPUs in float16 then, and nothing on CPUs.  Penstock
    computes in the types that the graph says, everywhere; the scale works all the same.

    Args:
      opt: an optimizer.
      loss_scale: as for ``MixedPrecisionLossScaleOptimizer``.

    Returns:
      The optimizer with a loss scale.

    Raises:
      ValueError: ``opt`` has a loss scale, or is no optimizer.
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError(
            '"opt" must not already be an instance of a MixedPrecisionLossScaleOptimizer.: this'
            " function gives it the loss scale"
        )
    if not isinstance(opt, Optimizer):
        raise ValueError(f'"opt" must be an instance of a tf.train.Optimizer, but got: {opt!r}')
    _Rewrite.enabled = True
    return MixedPrecisionLossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite() -> None:
    """Switches mixed precision off; optimizers keep their loss scales."""
    if not _Rewrite.enabled:
        _log.warning(
            "disable_mixed_precision_graph_rewrite() called when mixed precision is already"
            " disabled."
        )
    _Rewrite.enabled = False
