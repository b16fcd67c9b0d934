"""``tf.keras.losses``: functions of targets and predictions, one number a sample, and classes.

A class weighs what its function finds, and reduces it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library import nn
from penstock.library.layer_base import configs, settings
from penstock.library.ragged_tensors import dispatched as math
from penstock.training.keras_models import cross_entropies, weighting
from penstock.training.keras_models.weighting import Reduction


def _both(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    y_pred = convert_to_tensor(y_pred)
    return math.cast(y_true, y_pred.dtype), y_pred


def _mean(values: Any) -> Any:
    return math.reduce_mean(values, axis=-1)


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """Mean over the last dim of the squared difference."""
    y_true, y_pred = _both(y_true, y_pred)
    return _mean(math.squared_difference(y_pred, y_true))


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """Mean over the last dim of the absolute difference."""
    y_true, y_pred = _both(y_true, y_pred)
    return _mean(math.abs_(y_pred - y_true))


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """Mean over the last dim of ``100 * |difference| / |y_true|``."""
    y_true, y_pred = _both(y_true, y_pred)
    bounded = math.maximum(math.abs_(y_true), settings.epsilon())
    return 100.0 * _mean(math.abs_((y_true - y_pred) / bounded))


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """Mean over the last dim of the squared difference of ``log(1 + x)``."""
    y_true, y_pred = _both(y_true, y_pred)
    first = math.log(math.maximum(y_pred, settings.epsilon()) + 1.0)
    second = math.log(math.maximum(y_true, settings.epsilon()) + 1.0)
    return _mean(math.squared_difference(first, second))


def _signed(y_true: Any) -> Any:
    """Labels of 0 and 1 as -1 and 1; others as they are."""
    binary = math.reduce_all(math.logical_or(math.equal(y_true, 0), math.equal(y_true, 1)))
    return math.where(math.logical_and(binary, math.ones_like(y_true, dtype="bool")),
                      2.0 * y_true - 1.0, y_true)  # fmt: skip


def hinge(y_true: Any, y_pred: Any) -> Any:
    """Mean over the last dim of ``max(1 - y_true * y_pred, 0)``; labels 0 count as -1."""
    y_true, y_pred = _both(y_true, y_pred)
    return _mean(math.maximum(1.0 - _signed(y_true) * y_pred, 0.0))


def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """Mean over the last dim of the squared hinge."""
    y_true, y_pred = _both(y_true, y_pred)
    return _mean(math.square(math.maximum(1.0 - _signed(y_true) * y_pred, 0.0)))


def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """``max(1 - p + n, 0)`` of the true class's score and the best other's."""
    y_true, y_pred = _both(y_true, y_pred)
    right = math.reduce_sum(y_true * y_pred, axis=-1)
    wrong = math.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return math.maximum(0.0, wrong - right + 1.0)


def logcosh(y_true: Any, y_pred: Any) -> Any:
    """Mean over the last dim of ``log(cosh(difference))``."""
    y_true, y_pred = _both(y_true, y_pred)
    x = y_pred - y_true
    return _mean(x + nn.softplus(-2.0 * x) - math.log(math.cast(2.0, x.dtype)))


def kullback_leibler_divergence(y_true: Any, y_pred: Any) -> Any:
    """Sum over the last dim of ``y_true * log(y_true / y_pred)``."""
    y_true, y_pred = _both(y_true, y_pred)
    y_true = math.clip_by_value(y_true, settings.epsilon(), 1)
    y_pred = math.clip_by_value(y_pred, settings.epsilon(), 1)
    return math.reduce_sum(y_true * math.log(y_true / y_pred), axis=-1)


def poisson(y_true: Any, y_pred: Any) -> Any:
    """Mean over the last dim of ``y_pred - y_true * log(y_pred)``."""
    y_true, y_pred = _both(y_true, y_pred)
    return _mean(y_pred - y_true * math.log(y_pred + settings.epsilon()))


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Sum over ``axis`` of the product of both, each of length 1."""
    y_true, y_pred = _both(y_true, y_pred)
    first, second = nn.l2_normalize(y_true, axis), nn.l2_normalize(y_pred, axis)
    return math.reduce_sum(first * second, axis=axis)


def _smoothed(y_true: Any, label_smoothing: Any, spread: Any) -> Any:
    if isinstance(label_smoothing, int | float) and not label_smoothing:
        return y_true
    return y_true * (1.0 - label_smoothing) + label_smoothing / spread


def categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: Any = 0
) -> Any:
    """Cross entropy of distributions over the last dim.

    Args:
      y_true, y_pred: [..., classes].
      from_logits: whether ``y_pred`` are logits.
      label_smoothing: how much of the labels is spread evenly over the classes.

    Returns:
      [...].
    """
    y_true, y_pred = _both(y_true, y_pred)
    classes = math.cast(dimension_value(y_pred.shape[-1]) or 1, y_pred.dtype)
    y_true = _smoothed(y_true, label_smoothing, classes)
    return cross_entropies.categorical(y_true, y_pred, from_logits)


def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """Cross entropy of classes by number.

    Args:
      y_true: [...] or [..., 1], numbers of classes.
      y_pred: [..., classes].
      from_logits: whether ``y_pred`` are logits.
      axis: that of the classes.

    Returns:
      [...].
    """
    return cross_entropies.sparse_categorical(y_true, y_pred, from_logits, axis)


def huber_loss(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Half the square of small errors; of those above ``delta``, linear in their size.

    Returns:
      One number an element.
    """
    y_true, y_pred = _both(y_true, y_pred)
    size = math.abs_(y_pred - y_true)
    near = math.minimum(size, math.cast(delta, y_pred.dtype))
    return 0.5 * near * near + delta * (size - near)


def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: Any = 0
) -> Any:
    """Mean over the last dim of the cross entropy of yes and no.

    Args:
      y_true, y_pred: [..., n].
      from_logits: whether ``y_pred`` are logits.
      label_smoothing: how far labels are moved towards one half.

    Returns:
      [...].
    """
    y_true, y_pred = _both(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, 2.0)
    return _mean(cross_entropies.binary(y_true, y_pred, from_logits))


class Loss:
    """A loss as an object; subclasses give ``call(y_true, y_pred)``.

    Args:
      reduction: of ``tf.keras.losses.Reduction``.
      name: its name scope.
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None) -> None:
        Reduction.validate(reduction)
        self.reduction, self.name = reduction, name

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """One number a sample."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The weighted and reduced loss.

        Args:
          y_true, y_pred: targets and predictions, [batch, ...].
          sample_weight: weights of samples, or None.
        """
        name = (self.name or type(self).__name__.lower()).strip("<>")  # "<lambda>" is no scope
        with scopes.name_scope(name):
            found = self.call(y_true, y_pred)
            return weighting.weighted_loss(found, sample_weight, self.reduction)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a loss like this one."""
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The loss that ``get_config`` describes."""
        return cls(**config)


class FunctionLoss(Loss):
    """A loss whose samples' numbers come from a function."""

    def __init__(
        self, function: Callable[..., Any], reduction: str = Reduction.AUTO,
        name: str | None = None, **arguments: Any,
    ) -> None:  # fmt: skip
        super().__init__(reduction, name or getattr(function, "__name__", None))
        self.function, self.arguments = function, arguments

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """What the function finds."""
        return self.function(y_true, y_pred, **self.arguments)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a loss like this one."""
        return {**self.arguments, **super().get_config()}


def _of(function: Callable[..., Any], **defaults: Any) -> type:
    """The class of a loss function, with the function's further arguments first."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = dict(zip([*defaults, "reduction", "name"], args, strict=False)) | kwargs
        given = {**defaults, "reduction": Reduction.AUTO, "name": function.__name__} | given
        FunctionLoss.__init__(self, function, **given)

    doc = f"``{function.__name__}`` as an object; its arguments, ``reduction`` and ``name``."
    return type("", (FunctionLoss,), {"__init__": __init__, "__doc__": doc})


_CLASSES: dict[str, Any] = {
    "MeanSquaredError": _of(mean_squared_error),
    "MeanAbsoluteError": _of(mean_absolute_error),
    "MeanAbsolutePercentageError": _of(mean_absolute_percentage_error),
    "MeanSquaredLogarithmicError": _of(mean_squared_logarithmic_error),
    "BinaryCrossentropy": _of(binary_crossentropy, from_logits=False, label_smoothing=0),
    "CategoricalCrossentropy": _of(
        categorical_crossentropy, from_logits=False, label_smoothing=0
    ),
    "SparseCategoricalCrossentropy": _of(sparse_categorical_crossentropy, from_logits=False),
    "Hinge": _of(hinge), "SquaredHinge": _of(squared_hinge),
    "CategoricalHinge": _of(categorical_hinge), "Poisson": _of(poisson),
    "LogCosh": _of(logcosh), "KLDivergence": _of(kullback_leibler_divergence),
    "CosineSimilarity": _of(cosine_similarity, axis=-1), "Huber": _of(huber_loss, delta=1.0),
}  # fmt: skip
for _name, _class in _CLASSES.items():
    _class.__name__ = _class.__qualname__ = _name
    _class.__module__ = __name__
MeanSquaredError = _CLASSES["MeanSquaredError"]
MeanAbsoluteError = _CLASSES["MeanAbsoluteError"]
MeanAbsolutePercentageError = _CLASSES["MeanAbsolutePercentageError"]
MeanSquaredLogarithmicError = _CLASSES["MeanSquaredLogarithmicError"]
BinaryCrossentropy = _CLASSES["BinaryCrossentropy"]
CategoricalCrossentropy = _CLASSES["CategoricalCrossentropy"]
SparseCategoricalCrossentropy = _CLASSES["SparseCategoricalCrossentropy"]
Hinge, SquaredHinge = _CLASSES["Hinge"], _CLASSES["SquaredHinge"]
CategoricalHinge, Poisson = _CLASSES["CategoricalHinge"], _CLASSES["Poisson"]
LogCosh, KLDivergence = _CLASSES["LogCosh"], _CLASSES["KLDivergence"]
CosineSimilarity, Huber = _CLASSES["CosineSimilarity"], _CLASSES["Huber"]

_FUNCTIONS: dict[str, Any] = {
    one.__name__: one
    for one in (
        mean_squared_error, mean_absolute_error, mean_absolute_percentage_error,
        mean_squared_logarithmic_error, hinge, squared_hinge, categorical_hinge, logcosh,
        kullback_leibler_divergence, poisson, cosine_similarity,
        categorical_crossentropy, sparse_categorical_crossentropy, binary_crossentropy,
    )
}  # fmt: skip
_SHORT = {
    "mse": mean_squared_error, "MSE": mean_squared_error, "mae": mean_absolute_error,
    "MAE": mean_absolute_error, "mape": mean_absolute_percentage_error,
    "MAPE": mean_absolute_percentage_error, "msle": mean_squared_logarithmic_error,
    "MSLE": mean_squared_logarithmic_error, "kld": kullback_leibler_divergence,
    "KLD": kullback_leibler_divergence, "cosine": cosine_similarity,
    "cosine_proximity": cosine_similarity,
}  # fmt: skip
KNOWN: dict[str, Any] = {**_FUNCTIONS, **_SHORT, **_CLASSES}


def serialize(loss: Any) -> Any:
    """A loss by name, or as a configuration."""
    return configs.serialized(loss)


def deserialize(name: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The loss of that name or configuration."""
    return configs.made_from(name, KNOWN, "loss function", custom_objects)


def get(identifier: Any) -> Any:
    """The loss that a name, a configuration, itself or None stands for.

    Raises:
      ValueError: it stands for none.
    """
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, str | dict):
        return deserialize(identifier)
    raise ValueError("Could not interpret loss function identifier:", identifier)
