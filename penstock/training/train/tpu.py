"""What joins the replicas of a TPU: here there is one replica, whose sum is its own value.

TensorFlow makes nodes that only TPUs have kernels for; programs that use them with
``use_tpu=True`` alone, as they should, have the same graph here.
"""

from __future__ import annotations

from typing import Any

from penstock.library.nn.losses import Reduction
from penstock.library.variables.bfloat16 import bfloat16_scope as bfloat16_scope
from penstock.ops.control.control import identity
from penstock.training.train.optimizer import Optimizer


def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Any:
    """The sum of a tensor over all replicas: the tensor, as there is one.

    Args:
      x: the tensor.
      group_assignment: which replicas are summed: None, or ``[[0]]``.

    Returns:
      A tensor like ``x``.

    Raises:
      ValueError: ``group_assignment`` is no permutation of the replicas.
    """
    _check_groups(group_assignment)
    return identity(x, name=name)


class CrossShardOptimizer(Optimizer):
    """Applies the gradients of all replicas, which is one here, by another optimizer.

    Args:
      opt: the other optimizer.
      reduction: how losses of replicas become one: ``tf.losses.Reduction.SUM`` or ``MEAN``.
      name: of the optimizer.
      group_assignment: which replicas train together: None, or ``[[0]]``.

    Raises:
      ValueError: another reduction.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     w = tf.get_variable("w", initializer=2.0)
      ...     opt = tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.5))
      ...     step = opt.minimize(w * 3.0)
      ...     sess.run(tf.global_variables_initializer())
      ...     _ = sess.run(step)
      ...     float(sess.run(w))
      0.5
    """

    def __init__(
        self, opt: Any, reduction: str = Reduction.MEAN, name: str = "CrossShardOptimizer",
        group_assignment: Any = None,
    ) -> None:  # fmt: skip
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}. Allowed are SUM and MEAN")
        super().__init__(False, name)
        self._opt, self._group_assignment = opt, group_assignment

    def compute_gradients(self, loss: Any, var_list: Any = None, **kwargs: Any) -> list[Any]:  # type: ignore[override]
        """The other optimizer's ``compute_gradients``.

        Args:
          loss: the loss of this replica.
          var_list: the variables.
          **kwargs: its other arguments.
        """
        _check_groups(self._group_assignment)
        found: list[Any] = self._opt.compute_gradients(loss, var_list=var_list, **kwargs)
        return found

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """The other optimizer's ``apply_gradients``, of what all replicas found.

        Args:
          grads_and_vars: as from ``compute_gradients``.
          global_step: counted up afterwards.
        """
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        """The other optimizer's."""
        return self._opt.variables()


def _check_groups(groups: Any) -> None:
    """Checks the groups of one replica."""
    if not groups:
        return
    if not isinstance(groups, list) or not all(isinstance(each, list) for each in groups):
        raise ValueError(f"group_assignment must be a list of list. Got {groups}")
    if {replica for each in groups for replica in each} != {0}:
        raise ValueError(
            "group_assignment must be a permutation of range(1), there being one replica here."
            f" Got group_assignment={groups}"
        )
