"""Optimizers around another: averages of variables, clipped variables, gradients left out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors.dispatched import cast, equal, gather, identity, less_equal
from penstock.library.variables.getting import get_variable
from penstock.library.variables.global_step import get_global_step
from penstock.library.variables.initializers import zeros_initializer
from penstock.library.variables.listing import global_variables
from penstock.library.variables.partition import PartitionedVariable
from penstock.ops.array.fill import zeros
from penstock.ops.array.reshape import reshape
from penstock.ops.control.control import group, no_op
from penstock.ops.math.clip import clip_by_global_norm, clip_by_norm, global_norm
from penstock.ops.math.statistics import count_nonzero
from penstock.storage.checkpoint.saveable import _named
from penstock.storage.checkpoint.saver import Saver
from penstock.storage.summary.build import scalar
from penstock.training.train.moving_averages import ExponentialMovingAverage
from penstock.training.train.optimizer import Optimizer

_LOG = logging.getLogger("penstock")


class MovingAverageOptimizer(Optimizer):
    """Keeps running averages of what another optimizer trains.

    Args:
      opt: the optimizer.
      average_decay: decay of the averages.
      num_updates: number of steps so far, which makes the first decays smaller.
      sequential_update: whether averages wait for the variables' updates.
    """

    def __init__(
        self, opt: Optimizer, average_decay: Any = 0.9999, num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(False, "MovingAverage")
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped: dict[str, str] | None = None
        self._sequential_update = sequential_update

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """As ``tf.train.Optimizer.apply_gradients``, and updates the averages."""
        pairs = list(grads_and_vars)
        train_op = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        variables = [var for grad, var in pairs if grad is not None]
        with control_dependencies([train_op]) if self._sequential_update else nullcontext():
            averaged = self._ema.apply(variables)
        self._swapped = {}
        for var in variables:
            average: Any = self._ema.average(var)
            self._swapped[var.op.name] = average.op.name
            self._swapped[average.op.name] = var.op.name
        return group(train_op, averaged, name="train_with_avg")

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """A saver that saves averages under the names of their variables, and the reverse.

        Args:
          var_list: variables, by name if it is a dictionary; default all global ones.
          name: name of the saver's nodes.
          **kwargs: arguments of ``tf.train.Saver``.

        Raises:
          RuntimeError: nothing is trained yet.
          ValueError: a variable without its average.
        """
        if self._swapped is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the swapping_saver"
            )
        given = global_variables() if var_list is None else var_list
        named = given if isinstance(given, Mapping) else _named(given)
        known: dict[str, Any] = {}
        for key, item in named.items():
            if isinstance(item, list | PartitionedVariable):
                known.update({part.op.name: part for part in item})
            else:
                known[key] = item
        swapped = {
            key: [self._other(known, part.op.name, part) for part in item]
            if isinstance(item, list)
            else self._other(known, key, item)
            for key, item in named.items()
        }
        return Saver(swapped, name=name, **kwargs)

    def _other(self, known: dict[str, Any], name: str, item: Any) -> Any:
        other = (self._swapped or {}).get(name)
        if other is None:
            return item
        if other not in known:
            raise ValueError(
                f"Variable to swap {other} is not part of variables to save. This breaks"
                " MovingAverageOptimizer."
            )
        return known[other]


class _Around(Optimizer):
    """What optimizers share that hand the work to another: its slots are theirs."""

    _opt: Optimizer

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._opt.get_slot_names(*args, **kwargs)


class VariableClippingOptimizer(_Around):
    """Clips the norms of variables after another optimizer's step.

    Args:
      opt: the optimizer.
      vars_to_clip_dims: from variables to the dims that norms are taken over.
      max_norm: the greatest norm.
      use_locking: whether updates take the variable's lock.
      colocate_clip_ops_with_vars: whether the clipping is placed with the variable.
      name: name scope.
    """

    def __init__(
        self, opt: Optimizer, vars_to_clip_dims: Mapping[Any, Sequence[int]], max_norm: Any,
        use_locking: bool = False, colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._opt, self._max_norm = opt, max_norm
        self._dims = {var: list(dims) for var, dims in vars_to_clip_dims.items()}
        self._colocate = colocate_clip_ops_with_vars

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """As ``tf.train.Optimizer.apply_gradients``, and clips the variables."""
        pairs = list(grads_and_vars)
        with name_scope(name, self._name) as scope:
            update = self._opt.apply_gradients(pairs, global_step=global_step)
            clipped = []
            with control_dependencies([update]):
                for grad, var in pairs:
                    if grad is None or var not in self._dims:
                        continue
                    with name_scope(f"clip_{var.op.name}"):
                        clipped.append(self._clip(grad, var))
            return group(update, *clipped, name=scope)

    def _clip(self, grad: Any, var: Any) -> Any:
        dims = self._dims[var]
        if not isinstance(grad, IndexedSlices):
            return self._clip_dense(var, dims)
        if 0 in dims:
            _LOG.warning("Clipping %s over dim 0 takes all of its rows", var.op.name)
            return self._clip_dense(var, dims)
        with scopes.colocate_with(var):
            rows = gather(var, grad.indices)
        with self._beside(var):
            delta = rows - clip_by_norm(rows, self._max_norm, dims)
        with scopes.colocate_with(var):
            slices = IndexedSlices(delta, grad.indices, grad.dense_shape)
            return var.scatter_sub(slices, use_locking=self._use_locking)

    def _clip_dense(self, var: Any, dims: list[int]) -> Any:
        with self._beside(var):
            value = var.read_value()
            delta = value - clip_by_norm(value, self._max_norm, dims)
        with scopes.colocate_with(var):
            return var.assign_sub(delta, use_locking=self._use_locking)

    def _beside(self, var: Any) -> Any:
        return scopes.colocate_with(var) if self._colocate else nullcontext()


class DropStaleGradientOptimizer(_Around):
    """Leaves out gradients that were computed too many steps ago.

    Args:
      opt: the optimizer.
      staleness: how many steps may have passed since.
      use_locking: whether updates take the variable's lock.
      name: name of the optimizer.
    """

    def __init__(
        self, opt: Optimizer, staleness: int, use_locking: bool = False,
        name: str = "DropStaleGradient",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._opt, self._staleness = opt, staleness
        self._local_step: Any = None

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's, after the global step is read."""
        with scopes.colocate_with(loss):
            self._local_step = get_global_step() + 0
        with control_dependencies([self._local_step]):
            return self._opt.compute_gradients(identity(loss), *args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """As ``tf.train.Optimizer.apply_gradients``, where the gradients are young enough.

        Returns:
          The number of steps left out so far.
        """
        pairs = list(grads_and_vars)
        with scopes.colocate_with(global_step):
            stale = get_variable(
                "stale_counter", [], initializer=zeros_initializer(), trainable=False
            )

        def accept() -> Any:
            update = self._opt.apply_gradients(pairs, global_step=global_step, name=name)
            with control_dependencies([update]):
                return identity(0.0)

        grads = [
            grad.op if isinstance(grad, IndexedSlices) else grad
            for grad, _ in pairs
            if grad is not None
        ]
        with control_dependencies(grads), scopes.colocate_with(global_step):
            age = reshape(global_step - self._local_step, shape=())
        young = less_equal(age, cast(self._staleness, age.dtype))
        counted = stale.assign_add(cond(young, accept, lambda: identity(1.0)))
        share = stale / cast(global_step + 1, dtypes.float32)
        scalar("Gradient staleness percentage", share)
        return counted


# ---- gradients of some tasks only ----------------------------------------------------------------


def _all_zeros(grad: Any) -> Any:
    return equal(count_nonzero(grad), 0)


class MultitaskOptimizerWrapper:
    """Makes an optimizer leave alone variables whose gradient is all zeros, slots included.

    Args:
      opt: the optimizer; its methods are replaced.

    Raises:
      TypeError: it is none.
    """

    def __init__(self, opt: Optimizer) -> None:
        if not isinstance(opt, Optimizer):
            raise TypeError(
                f"Supplied optimizer must be an instance of tf.train.Optimizer; found {opt!r}"
            )
        self._opt = opt
        for form in ("_apply_dense", "_resource_apply_dense", "_apply_sparse",
                     "_resource_apply_sparse"):  # fmt: skip
            setattr(opt, form, self._where_some(getattr(opt, form)))

    @staticmethod
    def _where_some(apply: Callable[..., Any]) -> Callable[..., Any]:
        def applied(grad: Any, *args: Any, **kwargs: Any) -> Any:
            def update() -> Any:
                with control_dependencies([apply(grad, *args, **kwargs)]):
                    return no_op()

            values = grad.values if isinstance(grad, IndexedSlices) else grad
            return cond(_all_zeros(values), no_op, update)

        return applied

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def clip_gradients_by_global_norm(
    gradients_variables: Sequence[tuple[Any, Any]], clip_norm: Any = 20.0
) -> tuple[list[tuple[Any, Any]], Any]:
    """Clips gradients to a global norm of those that are not all zeros.

    Args:
      gradients_variables: (gradient, variable) pairs.
      clip_norm: the greatest norm.

    Returns:
      A list of pairs, and the norm before.
    """
    grads = [grad for grad, _ in gradients_variables]

    def present(grad: Any) -> Any:
        if grad is None:
            return None
        return cond(_all_zeros(grad), lambda: zeros([], dtype=grad.dtype), lambda: grad)

    norm = global_norm([present(grad) for grad in grads])
    clipped, _ = clip_by_global_norm(grads, clip_norm, use_norm=norm)
    return list(zip(clipped, [var for _, var in gradients_variables], strict=True)), norm
