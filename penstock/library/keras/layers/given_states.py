"""What calls of recurrent layers are given beside their inputs: first states, and constants.

They may come from layers (the states of an encoder); then a model has to go through them, so they
are noted among the inputs of the call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.foundation.graph import nest
from penstock.library.layer_base import tensors
from penstock.library.layer_base.layer import Layer

_NAMES = ("initial_state", "constants")


class Given(NamedTuple):
    """The inputs of a call apart from first states and constants, lists that may be empty."""

    inputs: Any
    states: list[Any]
    constants: list[Any]

    def named(self) -> dict[str, list[Any]]:
        """The arguments of a call, those that there are."""
        found = zip(_NAMES, self[1:], strict=True)
        return {name: values for name, values in found if values}


def apart(inputs: Any, initial_state: Any, constants: Any, number: int) -> Given:
    """What a call is given.

    Args:
      inputs: a tensor, or a list of it, states and constants.
      initial_state, constants: a tensor or a list of tensors each, or None.
      number: how many of ``inputs`` are constants, the last ones, if none are given otherwise.

    Raises:
      ValueError: some of the states and constants came from layers, others did not.
    """
    states = _listed(initial_state)
    fixed = _listed(constants)
    if isinstance(inputs, list | tuple):
        inputs, *rest = inputs
        if number and not fixed:
            rest, fixed = rest[:-number], rest[-number:]
        states = rest or states
    _refuse_mixed(nest.flatten([states, fixed]))
    return Given(inputs, states, fixed)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _refuse_mixed(flat: list[Any]) -> None:
    if len({tensors.history_of(one) is None for one in flat}) > 1:
        raise ValueError(
            "The initial state or constants of an RNN layer cannot be specified with a mix of Keras"
            ' tensors and non-Keras tensors (a "Keras tensor" is a tensor that was returned by a'
            f" Keras layer, or by `Input`); found {flat}"
        )


def _among_inputs(inputs: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Inputs and arguments of a call as they are noted: states from layers are inputs, too."""
    more = [each for name in _NAMES for each in _listed(given.get(name))]
    flat = nest.flatten(more)
    if not flat or tensors.history_of(flat[0]) is None:
        return inputs, given
    return [inputs, *more], {name: one for name, one in given.items() if name not in _NAMES}


class TakesStates(Layer):
    """A layer whose calls take first states, and tensors that are the same for all steps."""

    # How many such tensors the last call was given.
    num_constants = 0

    def __call__(
        self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any
    ) -> Any:
        """Runs the cell over the steps.

        Args:
          inputs: [batch, time, size]; or a list of that, first states and constants.
          initial_state: the first states; default zeros.
          constants: tensors that the cell is given at each step.
          **kwargs: ``mask`` [batch, time], ``training``.

        Raises:
          ValueError: some of the states and constants came from layers, others did not; the cell
            takes no constants, or has another number of states.
        """
        given = apart(inputs, initial_state, constants, self.num_constants)
        self.num_constants = len(given.constants)
        return super().__call__(given.inputs, **given.named(), **kwargs)

    def _call_to_note(self, inputs: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return _among_inputs(inputs, given)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        constants = {"num_constants": self.num_constants} if self.num_constants else {}
        return super().get_config() | constants
