"""FTRL-Proximal: follow the regularized leader, for sparse linear models.

::

    grown = accum + g * g
    linear += g + 2 * l2_shrinkage * var - (grown^-power - accum^-power) / learning_rate * var
    var = (sign(linear) * l1 - linear) / (grown^-power / learning_rate + 2 * l2)
    var = 0 where |linear| <= l1
    accum = grown

Source: McMahan et al., "Ad Click Prediction: a View from the Trenches".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.training.train.one_op import OneOpOptimizer, constant_like
from penstock.training.train.optimizer import cast


class FtrlOptimizer(OneOpOptimizer):
    """FTRL-Proximal.

    Args:
      learning_rate: float or scalar tensor.
      learning_rate_power: at most zero; how the rate falls with the sum of squares.
      initial_accumulator_value: at least zero; what the sums of squares start from.
      l1_regularization_strength: at least zero.
      l2_regularization_strength: at least zero.
      use_locking: whether updates take the variable's lock.
      name: name of the training op; slots are ``W/Ftrl`` and ``W/Ftrl_1``.
      accum_name: name of the slot of sums of squares, instead.
      linear_name: name of the slot of the linear term, instead.
      l2_shrinkage_regularization_strength: at least zero; a penalty of magnitude, added to the
        gradient.

    Raises:
      ValueError: a number outside of its range.
    """

    def __init__(
        self, learning_rate: Any, learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1, l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0, use_locking: bool = False, name: str = "Ftrl",
        accum_name: str | None = None, linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or zero"
            )
        for what, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        ):
            if value < 0.0:
                raise ValueError(f"{what} {value:f} needs to be positive or zero")
        self._learning_rate, self._learning_rate_power = learning_rate, learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._accum_name, self._linear_name = accum_name, linear_name
        self._learning_rate_tensor: Any = None
        self._l1_regularization_strength_tensor: Any = None
        self._l2_regularization_strength_tensor: Any = None
        self._l2_shrinkage_regularization_strength_tensor: Any = None
        self._learning_rate_power_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            with scopes.colocate_with(var):
                start = constant_like(var, self._initial_accumulator_value)
                self._get_or_make_slot(var, start, "accum", self._accum_name or self._name)
                self._zeros_slot(var, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(self._learning_rate, name="learning_rate")
        self._l1_regularization_strength_tensor = convert_to_tensor(
            self._l1_regularization_strength, name="l1_regularization_strength"
        )
        self._l2_regularization_strength_tensor = convert_to_tensor(
            self._l2_regularization_strength, name="l2_regularization_strength"
        )
        self._l2_shrinkage_regularization_strength_tensor = convert_to_tensor(
            self._l2_shrinkage_regularization_strength,
            name="l2_shrinkage_regularization_strength",
        )
        self._learning_rate_power_tensor = convert_to_tensor(
            self._learning_rate_power, name="learning_rate_power"
        )

    def _op_name(self) -> str:
        return "FtrlV2" if self._l2_shrinkage_regularization_strength > 0.0 else "Ftrl"

    def _op_slots(self) -> tuple[str, ...]:
        return ("accum", "linear")

    def _operands(self, var: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
        after = [
            self._learning_rate_tensor,
            self._l1_regularization_strength_tensor,
            self._l2_regularization_strength_tensor,
            self._learning_rate_power_tensor,
        ]
        if self._l2_shrinkage_regularization_strength > 0.0:
            after.insert(3, self._l2_shrinkage_regularization_strength_tensor)
        return [], [cast(tensor, dtype) for tensor in after]
