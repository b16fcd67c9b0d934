"""``tf.keras.optimizers``: the rules by which variables move, and optimizers by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.layer_base import configs, settings
from penstock.library.ragged_tensors import dispatched as math
from penstock.ops.array import gather
from penstock.ops.state import state, state_update
from penstock.training.keras_models import row_updates
from penstock.training.keras_models.optimizer import OptimizerV2
from penstock.training.keras_models.wrapped_optimizer import TFOptimizer
from penstock.training.train.optimizer import Optimizer


class _Ruled(OptimizerV2):
    """An optimizer with a learning rate; ``numbers`` are its other hyper-parameters by name."""

    slots: tuple[str, ...] = ()

    def __init__(self, rate: Any, name: str, numbers: dict[str, Any], given: Any) -> None:
        super().__init__(name, **given)
        self._hyper["learning_rate"] = given.get("lr", rate)
        self._hyper["decay"] = self._initial_decay
        self._hyper.update(numbers)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for slot in self.slots:
            for var in var_list:
                self.add_slot(var, slot)

    def _config(self, *names: str, **more: Any) -> dict[str, Any]:
        listed = ("learning_rate", "decay", *names)
        found = {name: self._serialize_hyperparameter(name) for name in listed}
        found["decay"] = self._serialize_hyperparameter("decay")
        return {**super().get_config(), **found, **more}


def _moves_on(momentum: Any) -> bool:
    """Whether moves are made again; what a tensor or a function will say is not known.

    Raises:
      ValueError: a number outside [0, 1].
    """
    if callable(momentum) or hasattr(momentum, "op"):
        return True
    if not 0 <= momentum <= 1:
        raise ValueError(f"`momentum` must be between [0, 1]; found {momentum}")
    return bool(momentum > 0)


class SGD(_Ruled):
    """Moves against the gradient, with momentum if there is one.

    Args:
      learning_rate: the rate.
      momentum: how much of the last move is made again, in [0, 1].
      nesterov: whether the gradient counts as of the place ahead.
      name: of its nodes; **kwargs: as of the base.

    Raises:
      ValueError: momentum outside [0, 1].
    """

    def __init__(
        self, learning_rate: Any = 0.01, momentum: Any = 0.0, nesterov: bool = False,
        name: str = "SGD", **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, name, {"momentum": momentum}, kwargs)
        self._moves_on = _moves_on(momentum)
        self.slots = ("momentum",) if self._moves_on else ()
        self.nesterov = nesterov

    def _step(self) -> Any:
        return self._rate()

    def _apply_dense(self, grad: Any, var: Any, step: Any) -> Any:
        rate = math.cast(step, grad.dtype)
        if not self._moves_on:
            return make("ResourceApplyGradientDescent", var, rate, grad, use_locking=False)
        slot, momentum = self.get_slot(var, "momentum"), self._get_hyper("momentum", grad.dtype)
        moved = state.assign(slot, momentum * slot - rate * grad)
        step_by = momentum * moved - rate * grad if self.nesterov else moved
        return state_update.assign_add(var, step_by)

    def _apply_sparse(self, grad: Any, var: Any, step: Any) -> Any:
        rate = math.cast(step, grad.dtype)
        if not self._moves_on:
            return make("ResourceScatterAdd", var, grad.indices, -rate * grad.values)
        slot, momentum = self.get_slot(var, "momentum"), self._get_hyper("momentum", grad.dtype)
        values, indices = row_updates.summed(grad)
        moved = momentum * row_updates.of(slot, indices) - rate * values
        moved = row_updates.set_to(slot, indices, moved)
        step_by = momentum * moved - rate * values if self.nesterov else moved
        return row_updates.added_to(var, indices, step_by)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an optimizer like this one."""
        return self._config("momentum", nesterov=self.nesterov)


class RMSprop(_Ruled):
    """Divides gradients by the root of a moving average of their squares.

    Args:
      learning_rate: the rate.
      rho: how slowly the average moves.
      momentum: how much of the last move is made again.
      epsilon: added under the root.
      centered: whether the average's square is taken off.
      name: of its nodes; **kwargs: as of the base.
    """

    def __init__(
        self, learning_rate: Any = 0.001, rho: Any = 0.9, momentum: Any = 0.0,
        epsilon: float | None = 1e-7, centered: bool = False, name: str = "RMSprop", **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, name, {"rho": rho, "momentum": momentum}, kwargs)
        self._moves_on = _moves_on(momentum)
        self.epsilon, self.centered = epsilon or settings.epsilon(), centered
        self.slots = ("rms", *["momentum"] * self._moves_on, *["mg"] * centered)

    def _step(self) -> Any:
        return self._rate()

    def _apply_dense(self, grad: Any, var: Any, step: Any) -> Any:
        rate, rho = math.cast(step, grad.dtype), self._get_hyper("rho", grad.dtype)
        rms = self.get_slot(var, "rms")
        average = state.assign(rms, rho * rms + (1 - rho) * math.square(grad))
        spread = average
        if self.centered:
            mg = self.get_slot(var, "mg")
            spread = average - math.square(state.assign(mg, rho * mg + (1 - rho) * grad))
        if not self._moves_on:
            return state_update.assign_sub(var, rate * grad / (math.sqrt(spread) + self.epsilon))
        # With momentum epsilon stands under the root.
        slot, momentum = self.get_slot(var, "momentum"), self._get_hyper("momentum", grad.dtype)
        scaled = rate * grad / math.sqrt(spread + self.epsilon)
        return state_update.assign_sub(var, state.assign(slot, momentum * slot + scaled))

    def _apply_sparse(self, grad: Any, var: Any, step: Any) -> Any:
        if not self._moves_on:
            return super()._apply_sparse(grad, var, step)
        values, indices = row_updates.summed(grad)
        slots = [self.get_slot(var, name) for name in ("rms", "momentum")]
        if self.centered:
            slots.insert(0, self.get_slot(var, "mg"))
        dtype = grad.dtype
        return make(
            f"ResourceSparseApply{'Centered' * self.centered}RMSProp", var, *slots,
            math.cast(step, dtype), self._get_hyper("rho", dtype),
            self._get_hyper("momentum", dtype), math.cast(self.epsilon, dtype), values, indices,
            use_locking=False,
        )  # fmt: skip

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an optimizer like this one."""
        return self._config("rho", "momentum", epsilon=self.epsilon, centered=self.centered)


class Adagrad(_Ruled):
    """Divides gradients by the root of the sum of their squares.

    Args:
      learning_rate: the rate.
      initial_accumulator_value: what the sums begin with.
      epsilon: added to the root.
      name: of its nodes; **kwargs: as of the base.

    Raises:
      ValueError: a negative first sum.
    """

    def __init__(
        self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1,
        epsilon: float | None = 1e-7, name: str = "Adagrad", **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, name, {}, kwargs)
        if initial_accumulator_value < 0.0:
            raise ValueError(
                f"initial_accumulator_value must be non-negative: {initial_accumulator_value}"
            )
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon or settings.epsilon()

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self.add_slot(var, "accumulator", self._initial_accumulator_value)

    def _step(self) -> Any:
        return self._rate()

    def _apply_dense(self, grad: Any, var: Any, step: Any) -> Any:
        sums = self.get_slot(var, "accumulator")
        grown = state_update.assign_add(sums, math.square(grad))
        scaled = math.cast(step, grad.dtype) * grad / (math.sqrt(grown) + self.epsilon)
        return state_update.assign_sub(var, scaled)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an optimizer like this one."""
        first = self._initial_accumulator_value
        return self._config(initial_accumulator_value=first, epsilon=self.epsilon)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The optimizer that ``get_config`` describes; by name its sums begin with 0."""
        return super().from_config({"initial_accumulator_value": 0.0, **config})


class Adadelta(_Ruled):
    """Scales gradients by the root of past moves over that of past gradients.

    Args:
      learning_rate: the rate.
      rho: how slowly the averages move.
      epsilon: added under the roots.
      name: of its nodes; **kwargs: as of the base.
    """

    slots = ("accum_grad", "accum_var")

    def __init__(
        self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: float | None = 1e-7,
        name: str = "Adadelta", **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, name, {"rho": rho}, kwargs)
        self.epsilon = epsilon or settings.epsilon()

    def _step(self) -> Any:
        return self._rate()

    def _apply_dense(self, grad: Any, var: Any, step: Any) -> Any:
        dtype = grad.dtype
        return make(
            "ResourceApplyAdadelta", var, self.get_slot(var, "accum_grad"),
            self.get_slot(var, "accum_var"), math.cast(step, dtype),
            self._get_hyper("rho", dtype), math.cast(self.epsilon, dtype), grad,
            use_locking=False,
        )  # fmt: skip

    def _apply_sparse(self, grad: Any, var: Any, step: Any) -> Any:
        values, indices = row_updates.summed(grad)
        dtype = grad.dtype
        return make(
            "ResourceSparseApplyAdadelta", var, self.get_slot(var, "accum_grad"),
            self.get_slot(var, "accum_var"), math.cast(step, dtype),
            self._get_hyper("rho", dtype), math.cast(self.epsilon, dtype), values, indices,
            use_locking=False,
        )  # fmt: skip

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an optimizer like this one."""
        return self._config("rho", epsilon=self.epsilon)


class _Moments(_Ruled):
    """What Adam and its kin share: two moments and their decay."""

    slots: tuple[str, ...] = ("m", "v")

    def __init__(
        self, rate: Any, beta_1: Any, beta_2: Any, epsilon: float | None, name: str, given: Any
    ) -> None:
        super().__init__(rate, name, {"beta_1": beta_1, "beta_2": beta_2}, given)
        self.epsilon = epsilon or settings.epsilon()

    def _betas(self, dtype: Any) -> tuple[Any, Any]:
        return self._get_hyper("beta_1", dtype), self._get_hyper("beta_2", dtype)

    def _step(self) -> Any:
        number = math.cast(self.iterations + 1, dtypes.float32)
        first, second = self._betas(dtypes.float32)
        return self._rate(), math.pow_(first, number), math.pow_(second, number)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an optimizer like this one."""
        return self._config("beta_1", "beta_2", epsilon=self.epsilon)


class Adam(_Moments):
    """Moments of first and second order, freed of their bias.

    Args:
      learning_rate: the rate.
      beta_1, beta_2: how slowly the moments move.
      epsilon: added to the root.
      amsgrad: whether the largest second moment so far counts.
      name: of its nodes; **kwargs: as of the base.
    """

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: Any = 0.9, beta_2: Any = 0.999,
        epsilon: float | None = 1e-7, amsgrad: bool = False, name: str = "Adam", **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, kwargs)
        self.amsgrad = amsgrad
        if amsgrad:
            self.slots = ("m", "v", "vhat")

    def _apply_dense(self, grad: Any, var: Any, step: Any) -> Any:
        rate, power_1, power_2 = (math.cast(one, grad.dtype) for one in step)
        beta_1, beta_2 = self._betas(grad.dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        if not self.amsgrad:
            return make(
                "ResourceApplyAdam", var, m, v, power_1, power_2, rate, beta_1, beta_2,
                math.cast(self.epsilon, grad.dtype), grad, use_locking=False, use_nesterov=False,
            )  # fmt: skip
        first = state.assign(m, beta_1 * m + (1 - beta_1) * grad)
        second = state.assign(v, beta_2 * v + (1 - beta_2) * math.square(grad))
        vhat = self.get_slot(var, "vhat")
        largest = state.assign(vhat, math.maximum(vhat, second))
        rate = rate * math.sqrt(1 - power_2) / (1 - power_1)
        return state_update.assign_sub(var, rate * first / (math.sqrt(largest) + self.epsilon))

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an optimizer like this one."""
        return {**super().get_config(), "amsgrad": self.amsgrad}


class Adamax(_Moments):
    """Adam whose second moment is the largest gradient, which decays.

    Args:
      learning_rate: the rate.
      beta_1, beta_2: how slowly the moments move.
      epsilon: added to the second moment.
      name: of its nodes; **kwargs: as of the base.
    """

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: Any = 0.9, beta_2: Any = 0.999,
        epsilon: float | None = 1e-7, name: str = "Adamax", **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, kwargs)

    def _apply_dense(self, grad: Any, var: Any, step: Any) -> Any:
        rate, power_1, _ = (math.cast(one, grad.dtype) for one in step)
        beta_1, beta_2 = self._betas(grad.dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        first = state.assign(m, beta_1 * m + (1 - beta_1) * grad)
        second = state.assign(v, math.maximum(beta_2 * v, math.abs_(grad)))
        return state_update.assign_sub(var, rate / (1 - power_1) * first / (second + self.epsilon))

    def _apply_sparse(self, grad: Any, var: Any, step: Any) -> Any:
        rate, power_1, _ = (math.cast(one, grad.dtype) for one in step)
        beta_1, beta_2 = self._betas(grad.dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        values, at = row_updates.summed(grad)
        first = row_updates.of(m, at) * beta_1 + (1 - beta_1) * values
        second = math.maximum(row_updates.of(v, at) * beta_2, math.abs_(values))
        first, second = row_updates.set_to(m, at, first), row_updates.set_to(v, at, second)
        moved = -rate / (1 - power_1) * (first / (second + self.epsilon))
        return row_updates.added_to(var, at, moved)


class Nadam(_Moments):
    """Adam with Nesterov's momentum, by a schedule.

    Args:
      learning_rate: the rate.
      beta_1, beta_2: how slowly the moments move.
      epsilon: added to the root.
      name: of its nodes; **kwargs: as of the base, and ``schedule_decay``.
    """

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: Any = 0.9, beta_2: Any = 0.999,
        epsilon: float | None = 1e-7, name: str = "Nadam", **kwargs: Any,
    ) -> None:  # fmt: skip
        # The schedule stands in the place of the decay, and is no decay of the rate.
        schedule = kwargs.pop("schedule_decay", kwargs.pop("decay", 0.004))
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, kwargs)
        self._hyper["decay"] = schedule
        self.__dict__["_cache"] = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        if self._cache is None:
            self.__dict__["_cache"] = self.add_weight("momentum_cache", [], initializer="ones")
            self._weights.append(self._cache)
        super()._create_slots(var_list)

    def _step(self) -> Any:
        number = math.cast(self.iterations + 1, dtypes.float32)
        beta_1, beta_2 = self._betas(dtypes.float32)
        decay = self._get_hyper("decay", dtypes.float32)
        now = beta_1 * (1.0 - 0.5 * math.pow_(0.96, decay * number))
        after = beta_1 * (1.0 - 0.5 * math.pow_(0.96, decay * (number + 1)))
        product = state.assign(self._cache, self._cache * now)
        return self._rate(), now, after, product, product * after, math.pow_(beta_2, number)

    def _apply_dense(self, grad: Any, var: Any, step: Any) -> Any:
        return state_update.assign_sub(var, self._moved(grad, *self._moments(grad, var), step))

    def _moments(self, grad: Any, var: Any) -> tuple[Any, Any]:
        beta_1, beta_2 = self._betas(grad.dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        first = state.assign(m, beta_1 * m + (1 - beta_1) * grad)
        return first, state.assign(v, beta_2 * v + (1 - beta_2) * math.square(grad))

    def _moved(self, grad: Any, first: Any, second: Any, step: Any) -> Any:
        rate, now, after, product, ahead, power_2 = (math.cast(x, grad.dtype) for x in step)
        looked = (1.0 - now) * (grad / (1.0 - product)) + after * (first / (1.0 - ahead))
        return rate * looked / (math.sqrt(second / (1.0 - power_2)) + self.epsilon)

    def _apply_sparse(self, grad: Any, var: Any, step: Any) -> Any:
        # The moments of all rows decay; those that have a gradient move.
        values, at = row_updates.summed(grad)
        whole = convert_to_tensor(grad)
        first, second = (
            gather.gather(convert_to_tensor(one), at) for one in self._moments(whole, var)
        )
        return row_updates.added_to(var, at, -self._moved(values, first, second, step))


class Ftrl(_Ruled):
    """Follows the regularized leader: sums of gradients say where a weight is, or that it is 0.

    Args:
      learning_rate: the rate.
      learning_rate_power: of the sum of squares, at most 0.
      initial_accumulator_value: what the sums of squares begin with.
      l1_regularization_strength, l2_regularization_strength: bounds on the weights.
      name: of its nodes; **kwargs: as of the base.
      l2_shrinkage_regularization_strength: a decay of the weights that is in no sum.

    Raises:
      ValueError: a number below 0, or a power above.
    """

    def __init__(
        self, learning_rate: Any = 0.001, learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1, l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0, name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0, **kwargs: Any,
    ) -> None:  # fmt: skip
        bounds = {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }  # fmt: skip
        for key, value in bounds.items():
            if value < 0.0:
                raise ValueError(f"{key} {value} needs to be be greater than or equal to zero")
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power} needs to be less than or equal to zero"
            )
        settings = {"learning_rate_power": learning_rate_power} | {
            key: bounds[key] for key in ("l1_regularization_strength", "l2_regularization_strength")
        }
        super().__init__(learning_rate, name, settings, kwargs)
        self._initial_accumulator_value = initial_accumulator_value
        self._shrinkage = l2_shrinkage_regularization_strength

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self.add_slot(var, "accumulator", self._initial_accumulator_value)
            self.add_slot(var, "linear")

    def _step(self) -> Any:
        return self._rate()

    def _strengths(self, step: Any, dtype: Any) -> list[Any]:
        found = [math.cast(step, dtype)]
        for name in ("l1", "l2"):
            found.append(self._get_hyper(f"{name}_regularization_strength", dtype))
        shrinkage = [math.cast(self._shrinkage, dtype)] if self._shrinkage > 0.0 else []
        return [*found, *shrinkage, self._get_hyper("learning_rate_power", dtype)]

    def _apply_dense(self, grad: Any, var: Any, step: Any) -> Any:
        slots = self.get_slot(var, "accumulator"), self.get_slot(var, "linear")
        version = "V2" if self._shrinkage > 0.0 else ""
        numbers = self._strengths(step, grad.dtype)
        return make(f"ResourceApplyFtrl{version}", var, *slots, grad, *numbers, use_locking=False)

    def _apply_sparse(self, grad: Any, var: Any, step: Any) -> Any:
        slots = self.get_slot(var, "accumulator"), self.get_slot(var, "linear")
        version = "V2" if self._shrinkage > 0.0 else ""
        rows, numbers = row_updates.summed(grad), self._strengths(step, grad.dtype)
        name = f"ResourceSparseApplyFtrl{version}"
        return make(name, var, *slots, *rows, *numbers, use_locking=False)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an optimizer like this one."""
        return self._config(
            "learning_rate_power", "l1_regularization_strength", "l2_regularization_strength",
            initial_accumulator_value=self._initial_accumulator_value,
            l2_shrinkage_regularization_strength=self._shrinkage,
        )  # fmt: skip


KNOWN: dict[str, Any] = {
    one.__name__.lower(): one
    for one in (SGD, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam, Ftrl)
}


def serialize(optimizer: Any) -> Any:
    """An optimizer as a configuration."""
    return configs.serialized(optimizer)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The optimizer of a configuration; names in any case."""
    config = dict(config)
    if config["class_name"].lower() in KNOWN:
        config["class_name"] = config["class_name"].lower()
    return configs.made_from(config, KNOWN, "optimizer", custom_objects)


def get(identifier: Any) -> Any:
    """The optimizer that a name, a configuration, itself or one of ``tf.train`` stands for.

    Raises:
      ValueError: it stands for none.
    """
    if isinstance(identifier, OptimizerV2 | TFOptimizer):
        return identifier
    if isinstance(identifier, Optimizer):
        return TFOptimizer(identifier)
    if isinstance(identifier, Mapping):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    raise ValueError("Could not interpret optimizer identifier:", identifier)
