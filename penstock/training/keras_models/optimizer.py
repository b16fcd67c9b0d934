"""The base of ``tf.keras.optimizers``: hyper-parameters are variables, and so is the step.

The first updates make, in this order and in the name scope of the caller: ``iter``, the
hyper-parameters by name, and the slots, a slot of all variables before the next slot.

State of an optimizer: hyper-parameters as numbers, then as variables; slots by name and variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.autodiff import gradients as autodiff
from penstock.library.layer_base import initializers, sessions
from penstock.library.layer_base.weights import make_variable
from penstock.library.ragged_tensors import dispatched as math
from penstock.library.variables import tracked
from penstock.library.variables.variable import Variable
from penstock.ops.control import control
from penstock.ops.math import clip
from penstock.ops.state.state_update import assign_add
from penstock.training.keras_models import schedules
from penstock.training.keras_models.schedules import LearningRateSchedule

_KEYWORDS = {"clipnorm", "clipvalue", "lr", "decay"}


class OptimizerV2:
    """Makes updates of variables from gradients; see the module.

    Args:
      name: the name of its nodes.
      **kwargs: ``clipnorm`` and ``clipvalue``, bounds of each gradient's norm and elements;
        ``lr``, an older name of ``learning_rate``; ``decay``, by which the rate is divided as
        ``1 + decay * iterations``.

    Raises:
      TypeError: another keyword.
      ValueError: a keyword below 0.
    """

    _hyper: dict[str, Any]
    _made: dict[str, Any]
    _slots: dict[tuple[int, str], Any]
    _name: str
    _weights: list[Any]
    _iterations: Any
    _initial_decay: float
    # Checkpoints know an optimizer by it; what it would hold stands among the dependencies here.
    _non_slot_dict: dict[Any, Any] = {}

    def __init__(self, name: str, **kwargs: Any) -> None:
        for key, value in kwargs.items():
            if key not in _KEYWORDS:
                raise TypeError(
                    f"Unexpected keyword argument passed to optimizer: {key}; there are"
                    f" {', '.join(sorted(_KEYWORDS))}"
                )
            if value is not None and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        fields = self.__dict__
        fields.update(
            _name=name, _hyper={}, _made={}, _slots={}, _weights=[], _iterations=None,
            _initial_decay=kwargs.pop("decay", None) or 0.0,
        )  # fmt: skip
        for key in ("clipnorm", "clipvalue"):
            if key in kwargs:
                fields[key] = kwargs[key]

    # ---- hyper-parameters ----------------------------------------------------------------------

    def _set_hyper(self, name: str, value: Any) -> None:
        if name in self._made and isinstance(value, int | float):
            sessions.set_values([(self._made[name], value)])
        else:
            self._hyper[name] = value

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__
        wanted = "learning_rate" if name == "lr" else name
        if wanted in fields.get("_hyper", ()):
            self._create_hypers()  # so that what is asked for can be set by its session
            return fields["_made"].get(wanted, fields["_hyper"][wanted])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        wanted = "learning_rate" if name == "lr" else name
        if wanted in self.__dict__.get("_hyper", ()):
            self._set_hyper(wanted, value)
        else:
            super().__setattr__(name, value)

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        found = self._made.get(name, self._hyper[name])
        if isinstance(found, LearningRateSchedule):
            found = found(math.cast(self.iterations, dtypes.float32))
        elif callable(found) and not hasattr(found, "dtype"):
            found = found()
        return found if dtype is None else math.cast(found, dtype)

    def _serialize_hyperparameter(self, name: str) -> Any:
        if name in self._made:
            return sessions.values_of([self._made[name]])[0]
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return schedules.serialize(value)
        return value() if callable(value) else value

    def _create_hypers(self) -> None:
        self.iterations  # noqa: B018 - it is made first
        for name in sorted(self._hyper):
            value = self._hyper[name]
            is_tensor = hasattr(value, "dtype") and not isinstance(value, np.ndarray | np.generic)
            if name in self._made or callable(value) or is_tensor:
                continue
            self._made[name] = self.add_weight(name, [], initializer=value)

    @property
    def iterations(self) -> Any:
        """The number of updates made so far, a variable of type int64."""
        if self._iterations is None:
            made = self.add_weight("iter", [], dtypes.int64)
            self.__dict__["_iterations"] = made
            self._weights.insert(0, made)
            tracked.attached()
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        """Makes a variable of type int64, the global step say, count the updates.

        Raises:
          RuntimeError: they are counted by another already.
        """
        self.set_iterations(variable)

    def set_iterations(self, variable: Any) -> None:
        """Makes a variable of type int64 count the updates.

        Raises:
          RuntimeError: they are counted by another already.
        """
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been"
                " created"
            )
        self.__dict__["_iterations"] = variable
        self._weights.insert(0, variable)

    def add_weight(
        self, name: str, shape: Any, dtype: Any = None, initializer: Any = "zeros",
        trainable: bool = False,
    ) -> Any:  # fmt: skip
        """A variable of the optimizer.

        Args:
          name: its name; shape, dtype: its shape and type, default float32.
          initializer: a number, or as of a layer's weight.
          trainable: whether it is trained itself.
        """
        if isinstance(initializer, str) or callable(initializer):
            first = initializers.get(initializer)
        else:
            first = initializers.get({"class_name": "Constant", "config": {"value": initializer}})
        made = make_variable(name, shape, dtype or dtypes.float32, first, trainable)
        sessions.track_variable(made)
        return made

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        """What checkpoints have of it, besides its slots."""
        counted = [] if self._iterations is None else [("iter", self._iterations)]
        return [*counted, *sorted(self._made.items())]

    # ---- slots ---------------------------------------------------------------------------------

    def get_slot_names(self) -> list[str]:
        """The names of its slots."""
        return list(dict.fromkeys(name for _, name in self._slots))

    def add_slot(self, var: Any, slot_name: str, initializer: Any = "zeros") -> Any:
        """The slot of that name of a variable, made if it is not there."""
        key = (id(var), slot_name)
        if key not in self._slots:
            made = self.add_weight(
                f"{_name_of(var)}/{slot_name}", var.shape, var.dtype.base_dtype, initializer
            )
            self._slots[key] = made
            self._weights.append(made)
        return self._slots[key]

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """The slot of that name of a variable."""
        return self._slots[id(var), slot_name]

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Makes the slots; a subclass says which."""

    @property
    def weights(self) -> list[Any]:
        """Its variables, less hyper-parameters: ``iter`` and the slots."""
        return list(self._weights)

    def variables(self) -> list[Any]:
        """Its variables, less hyper-parameters: ``iter`` and the slots."""
        return self.weights

    def get_weights(self) -> list[Any]:
        """The values of ``weights``."""
        return sessions.values_of(self.weights)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Gives ``weights`` new values.

        Raises:
          ValueError: their number is another.
        """
        if len(weights) != len(self._weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a  weight list"
                f" of length {len(weights)}, but the optimizer was expecting"
                f" {len(self._weights)} weights."
            )
        sessions.set_values(list(zip(self._weights, weights, strict=True)))

    # ---- updates -------------------------------------------------------------------------------

    def get_gradients(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The gradients of a loss, clipped as the optimizer was told.

        Raises:
          ValueError: a variable has none.
        """
        found = autodiff.gradients(loss, list(params))
        for grad, param in zip(found, params, strict=True):
            if grad is None:
                raise ValueError(
                    f"An operation has `None` for gradient of variable {param.name}. Please make"
                    " sure that all of your ops have a gradient defined (i.e. are differentiable)."
                    " Common ops without gradient: K.argmax, K.round, K.eval."
                )
        return [self._clipped(grad) for grad in found]

    def _clipped(self, grad: Any) -> Any:
        if "clipnorm" in self.__dict__:
            grad = clip.clip_by_norm(grad, self.clipnorm)
        if "clipvalue" in self.__dict__:
            grad = clip.clip_by_value(grad, -self.clipvalue, self.clipvalue)
        return grad

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The op that moves ``params`` against the gradients of ``loss``, in a list."""
        with scopes.name_scope(self._name):
            grads = self.get_gradients(loss, params)
            return [self.apply_gradients(list(zip(grads, params, strict=True)))]

    def minimize(
        self, loss: Any, var_list: Any, grad_loss: Any = None, name: str | None = None
    ) -> Any:
        """The op that moves ``var_list`` against the gradients of ``loss``.

        Args:
          loss: a function without arguments that makes the loss, or a tensor.
          var_list: variables, or a function that lists them.
          grad_loss: what the gradients begin with; default 1.
          name: of the op.
        """
        graph = scopes.get_default_graph()
        if graph.executes:
            listed = var_list() if callable(var_list) else list(var_list)
            grads, _ = graph.loss_gradients(loss, listed, grad_loss)
        else:
            value = loss() if callable(loss) and not hasattr(loss, "op") else loss
            listed = var_list() if callable(var_list) else list(var_list)
            grads = autodiff.gradients(value, listed, grad_loss)
        clipped = [None if grad is None else self._clipped(grad) for grad in grads]
        return self.apply_gradients(zip(clipped, listed, strict=True), name)

    def apply_own_gradients(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Moves variables by gradients of a model's loss, clipped as the optimizer was told."""
        self.apply_gradients([(None if g is None else self._clipped(g), v) for g, v in pairs])

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Any]], name: str | None = None
    ) -> Any:
        """The op that applies gradients and counts the step.

        Args:
          grads_and_vars: pairs of a gradient and a variable.
          name: of the op.

        Raises:
          ValueError: no variable has a gradient.
        """
        pairs = list(grads_and_vars)
        have = [(grad, var) for grad, var in pairs if grad is not None]
        if pairs and not have:
            names = [var.name for _, var in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        self._create_hypers()
        self._create_slots([var for _, var in have])
        if scopes.get_default_graph().executes:
            tracked.attached()
        with scopes.name_scope(name or self._name):
            step = self._step()
            updates = [self._updated(grad, var, step) for grad, var in have]
            with scopes.control_dependencies([control.group(*updates)]):
                counted = assign_add(self.iterations, convert_to_tensor(1, dtypes.int64))
                return self.iterations if scopes.get_default_graph().executes else counted.op

    def make_weights(self, variables: Sequence[Any]) -> None:
        """Makes what the first updates of variables would make, where it is not there."""
        self._create_hypers()
        self._create_slots(variables)

    def _step(self) -> Any:
        """What the updates of all variables share, of ``iterations`` before the step."""
        return None

    def _rate(self) -> Any:
        rate = self._get_hyper("learning_rate")
        if isinstance(rate, Variable):
            rate = rate.value()
        if self._initial_decay > 0.0:
            count = math.cast(self.iterations, dtypes.float32)
            rate = rate / (1.0 + self._get_hyper("decay") * count)
        return convert_to_tensor(rate)

    def _updated(self, grad: Any, var: Any, step: Any) -> Any:
        with scopes.name_scope(f"update_{_name_of(var)}"), scopes.colocate_with(var):
            if isinstance(grad, IndexedSlices):
                moved = self._apply_sparse(grad, var, step)
            else:
                moved = self._apply_dense(grad, var, step)
        if scopes.get_default_graph().executes:
            return None if var.constraint is None else var.assign(var.constraint(var.value()))
        made = moved if hasattr(moved, "control_inputs") else moved.op
        if var.constraint is None:
            return made
        with scopes.control_dependencies([made]):
            return var.assign(var.constraint(var.read_value())).op

    def _apply_dense(self, grad: Any, var: Any, step: Any) -> Any:
        raise NotImplementedError

    def _apply_sparse(self, grad: IndexedSlices, var: Any, step: Any) -> Any:
        # A row without a gradient moves as one whose gradient is zero.
        return self._apply_dense(convert_to_tensor(grad), var, step)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an optimizer like this one."""
        config: dict[str, Any] = {"name": self._name}
        config.update(
            (k, self.__dict__[k]) for k in ("clipnorm", "clipvalue") if k in self.__dict__
        )
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The optimizer that ``get_config`` describes."""
        given = dict(config)
        if "lr" in given:
            given["learning_rate"] = given.pop("lr")
        if isinstance(given.get("learning_rate"), dict):
            given["learning_rate"] = schedules.deserialize(given["learning_rate"])
        return cls(**given)


def _name_of(variable: Any) -> str:
    name: str = variable.name.partition(":")[0]
    return name
