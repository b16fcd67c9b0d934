"""Moving averages of variables and tensors, kept in variables of their own.

One update is ``average -= (1 - decay) * (average - value)``.  The average of ``W`` is the slot
``W/ExponentialMovingAverage``; that of a tensor starts at zero, and ``zero_debias`` divides its
bias out, as Adam does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import getting, initializers, scope as variable_scopes, scoping
from penstock.library.variables.variable import Variable
from penstock.ops.control import control
from penstock.ops.math import division
from penstock.ops.state import state, state_update
from penstock.training.train import slot_creator
from penstock.training.train.optimizer import cast

_AVERAGED_TYPES = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """Moves ``variable`` towards ``value``: ``variable -= (1 - decay) * (variable - value)``.

    Args:
      variable: the Variable that holds the average.
      value: tensor of its shape.
      decay: float or scalar tensor; what stays of the old average.
      zero_debias: for a variable that starts at zero: keep the biased average and a step count in
        the variables ``biased`` and ``local_step`` beside it, and put the unbiased average in.
      name: name scope of the nodes, and name of the update.

    Returns:
      The updated reference (or variable, for resource variables).
    """
    with scopes.name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rate = cast(convert_to_tensor(1.0 - decay, name="decay"), variable.dtype)
        if zero_debias:
            return _zero_debiased(variable, value, rate)
        return state_update.assign_sub(variable, (variable - value) * rate, name=scope)


def _unused(name: str) -> str:
    """``name``, with a number when this variable scope has such a variable and is not reused."""
    here = variable_scopes.get_variable_scope()
    if here.reuse:
        return name
    taken = {v.op.name for v in here.global_variables()}
    candidate, count = name, 0
    while f"{here.name}/{candidate}" in taken:
        count += 1
        candidate = f"{name}_{count}"
    return candidate


def _zero_debiased(unbiased: Any, value: Any, rate: Any) -> Any:
    """Updates ``unbiased`` to the average of all values so far, each weighted by its age."""
    dtype = unbiased.dtype.base_dtype

    def zeros(name: str, shape: Any) -> Any:
        return getting.get_variable(
            _unused(name), initializer=initializers.zeros_initializer(), shape=shape,
            dtype=dtype, trainable=False,
        )  # fmt: skip

    held = [unbiased, value, rate]
    with scoping.variable_scope(unbiased.op.name, values=held):
        with scopes.colocate_with(unbiased):
            biased = zeros("biased", unbiased.get_shape())
            local_step = zeros("local_step", [])
    moved = state_update.assign_sub(biased, (biased - value) * rate)
    steps = local_step.assign_add(1)
    # ``rate`` is 1 - decay.
    bias = 1 - make("Pow", 1.0 - rate, steps)
    scope = scopes.get_default_graph().get_name_scope() + "/"
    return state.assign(unbiased, moved / bias, name=scope)


def weighted_moving_average(
    value: Any, decay: Any, weight: Any, truediv: bool = True, collections: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The moving average of ``value * weight`` divided by that of ``weight``.

    Args:
      value: tensor.
      decay: float or scalar tensor.
      weight: tensor whose shape broadcasts to that of ``value``.
      truediv: divide integers as floats.
      collections: collections of the two variables that hold the averages.
      name: name of the variable scope; default ``WeightedMovingAvg``.

    Returns:
      A tensor shaped like ``value``: the average after this update.
    """
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections

    def average(what: str, like: Any) -> Any:
        return getting.get_variable(
            what, shape=like.get_shape(), dtype=like.dtype, trainable=False,
            initializer=initializers.zeros_initializer(), collections=collections,
        )  # fmt: skip

    with scoping.variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        products = average("value_x_weight", value)
        weights = average("weight", weight)
        above = assign_moving_average(products, value * weight, decay, zero_debias=False)
        below = assign_moving_average(weights, weight, decay, zero_debias=False)
        above, below = convert_to_tensor(above), convert_to_tensor(below)
        if truediv and not above.dtype.base_dtype.is_floating:
            return division.truediv(above, below, name=scope.name)
        kind = "RealDiv" if truediv or above.dtype.base_dtype.is_floating else "FloorDiv"
        return make_tensor(kind, above, below, name=scope.name)


class ExponentialMovingAverage:
    """Keeps exponentially decaying averages of variables, for evaluation.

    Args:
      decay: float near 1.0, for instance 0.999.
      num_updates: count of updates; then the decay is at most ``(1 + n) / (10 + n)``, so that
        averages move faster at first.
      zero_debias: correct the averages of tensors (not variables) for their start at zero.
      name: name of the averages under the variables'.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     w = tf.Variable(4.0, name="w")
      ...     ema = tf.train.ExponentialMovingAverage(0.75)
      ...     update = ema.apply([w])
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(w.assign(8.0))
      ...     sess.run(update)
      ...     ema.average(w).name, float(sess.run(ema.average(w)))
      np.float32(8.0)
      ('w/ExponentialMovingAverage:0', 5.0)
    """

    def __init__(
        self, decay: Any, num_updates: Any = None, zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:  # fmt: skip
        self._decay, self._num_updates = decay, num_updates
        self._zero_debias, self._name = zero_debias, name
        # By id, since tensors and variables need not compare as booleans; the item keeps it alive.
        self._averages: dict[int, tuple[Any, Any]] = {}

    @property
    def name(self) -> str:
        """The name of the averages under the variables'."""
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> Any:
        """Makes the averages, where they are not there yet, and an op that updates them.

        Args:
          var_list: variables and tensors; default the trainable variables.  An average starts at
            the initial value of a variable, and at zero for a tensor.

        Returns:
          The op.

        Raises:
          TypeError: one of them is not of a floating-point type.
        """
        if var_list is None:
            var_list = collecting.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        items = list(var_list)
        debiased = set()
        for var in items:
            if var.dtype.base_dtype not in _AVERAGED_TYPES:
                raise TypeError(
                    "The variables must be half, bfloat16, float or double to be averaged;"
                    f" {var.name} is {var.dtype.base_dtype.name}"
                )
            if id(var) not in self._averages:
                with scopes.control_dependencies(None):
                    average = self._new_average(var)
                if self._zero_debias and not isinstance(var, Variable):
                    debiased.add(id(var))
                self._averages[id(var)] = (var, average)
        with scopes.name_scope(self._name) as scope:
            decay = self._decay_now()
            updates = [
                assign_moving_average(self._averages[id(v)][1], v, decay, id(v) in debiased)
                for v in items
            ]
            return control.group(*updates, name=scope)

    def _new_average(self, var: Any) -> Any:
        if isinstance(var, Variable):
            average = slot_creator.create_slot(var, var.initialized_value(), self._name)
            collecting.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
            return average
        holds_state = var.op.op_def.role == "variable"
        return slot_creator.create_zeros_slot(var, self._name, colocate_with_primary=holds_state)

    def _decay_now(self) -> Tensor:
        decay = convert_to_tensor(self._decay, name="decay")
        if self._num_updates is None:
            return decay
        updates = cast(self._num_updates, dtypes.float32, name="num_updates")
        return make_tensor("Minimum", decay, (1.0 + updates) / (10.0 + updates))

    def average(self, var: Any) -> Any:
        """The variable that holds the average of ``var``, or None."""
        return self._averages.get(id(var), (None, None))[1]

    def average_name(self, var: Any) -> str:
        """The name of the average's op, whether it is made already or not.

        Args:
          var: a variable or tensor.
        """
        average = self.average(var)
        if average is not None:
            return average.op.name  # type: ignore[no-any-return]
        graph = scopes.get_default_graph()
        return graph.unique_name(f"{var.op.name}/{self._name}", mark_as_used=False)

    def variables_to_restore(
        self, moving_avg_variables: Iterable[Any] | None = None
    ) -> dict[str, Any]:
        """What a saver restores so that variables get the values of their averages.

        Args:
          moving_avg_variables: variables with averages; default the trainable ones and those in
            the collection ``MOVING_AVERAGE_VARIABLES``.

        Returns:
          Names in the checkpoint to variables: an averaged one by its average's name, the others by
          their own.
        """
        if moving_avg_variables is None:
            moving_avg_variables = [
                *collecting.get_collection(GraphKeys.TRAINABLE_VARIABLES),
                *collecting.get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES),
            ]
        averaged = list(dict.fromkeys(moving_avg_variables))
        result = {self.average_name(v): v for v in averaged}
        names = {v.name for v in averaged}
        for var in collecting.get_collection(GraphKeys.GLOBAL_VARIABLES):
            if var.name not in names and var.op.name not in result:
                result[var.op.name] = var
        return result
