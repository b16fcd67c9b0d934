"""``optimize_loss``: one call that makes the whole of a training step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.contrib.framework.variables import assert_global_step, get_global_step
from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import initializers, listing
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.cast import cast
from penstock.ops.control.control import with_dependencies
from penstock.ops.math.binary import maximum, minimum
from penstock.ops.math.clip import clip_by_global_norm, global_norm
from penstock.ops.math.elementwise import exp, log, ones_like, sqrt, square
from penstock.ops.math.select import where
from penstock.ops.random.random import truncated_normal
from penstock.storage.summary import build
from penstock.training.train.adagrad import AdagradOptimizer
from penstock.training.train.adam import AdamOptimizer
from penstock.training.train.ftrl import FtrlOptimizer
from penstock.training.train.gradient_descent import GradientDescentOptimizer
from penstock.training.train.momentum import MomentumOptimizer
from penstock.training.train.moving_averages import assign_moving_average
from penstock.training.train.optimizer import Optimizer
from penstock.training.train.rmsprop import RMSPropOptimizer

OPTIMIZER_CLS_NAMES: dict[str, Any] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}

OPTIMIZER_SUMMARIES = [
    "learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm",
]  # fmt: skip

Pairs = list[tuple[Any, Any]]


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Any = None,
    variables: Any = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """Makes a training step: updates, gradients, their changes, and the optimizer's.

    Args:
      loss: a scalar.
      global_step: counted up by the step; None: the graph's, if it has one.
      learning_rate: a float or scalar tensor; None: ``optimizer`` knows it.
      optimizer: a name of ``OPTIMIZER_CLS_NAMES``, a class, an instance, or a function of the
        learning rate that makes one.
      gradient_noise_scale: scale of the noise that is added to gradients.
      gradient_multipliers: factors of gradients by variable or its name.
      clip_gradients: largest global norm, or a function of (gradient, variable) pairs.
      learning_rate_decay_fn: function of the learning rate and the step that returns another.
      update_ops: operations that run before; default UPDATE_OPS.
      variables: what is trained; default all trainable variables.
      name: variable scope; default "OptimizeLoss".
      summaries: which of ``OPTIMIZER_SUMMARIES`` are made; default learning rate, loss and global
        norm.
      colocate_gradients_with_ops: whether gradients are computed where their ops are.
      increment_global_step: whether the optimizer counts the step.

    Returns:
      The loss, after the step.

    Raises:
      ValueError: an argument that is not allowed, or no gradient for any variable.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     x = tf.Variable(3.0)
      ...     step = tf.contrib.layers.optimize_loss(x * x, None, 0.1, "SGD")
      ...     sess.run(tf.global_variables_initializer())
      ...     [float(sess.run(step)) for _ in range(2)][0]
      9.0
    """
    loss = convert_to_tensor(loss)
    if loss.get_shape().ndims != 0:
        raise ValueError(f"Invalid shape for loss; found {loss.get_shape()}, allowed is ()")
    if global_step is None:
        global_step = get_global_step()
    else:
        assert_global_step(global_step)
    wanted = _checked_summaries(summaries)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        if update_ops is None:
            update_ops = set(collecting.get_collection(GraphKeys.UPDATE_OPS))
        if update_ops:
            loss = with_dependencies(list(update_ops), loss)
        rate = _rate(learning_rate, learning_rate_decay_fn, global_step, wanted)
        chosen = _optimizer(optimizer, rate)
        if variables is None:
            variables = listing.trainable_variables()
        pairs = chosen.compute_gradients(
            loss, variables, colocate_gradients_with_ops=colocate_gradients_with_ops
        )
        if gradient_noise_scale is not None:
            pairs = _noisy(pairs, gradient_noise_scale)
        if gradient_multipliers is not None:
            pairs = _multiplied(pairs, gradient_multipliers)
            if not pairs:
                raise ValueError(
                    "Empty list of (gradient, var) pairs encountered. This is most likely to be"
                    " caused by an improper value of gradient_multipliers."
                )
        if "global_gradient_norm" in wanted or "gradient_norm" in wanted:
            build.scalar("global_norm/gradient_norm", global_norm(next(zip(*pairs, strict=True))))
        if isinstance(clip_gradients, float):
            pairs = _clipped(pairs, clip_gradients)
        elif callable(clip_gradients):
            pairs = clip_gradients(pairs)
        elif clip_gradients is not None:
            raise ValueError(f"Unknown type {type(clip_gradients)} for clip_gradients")
        _summarize(loss, pairs, wanted, clipped=clip_gradients is not None)
        updates = chosen.apply_gradients(
            pairs, global_step=global_step if increment_global_step else None, name="train"
        )
        return with_dependencies([updates], loss)


def _checked_summaries(summaries: Sequence[str] | None) -> Sequence[str]:
    if summaries is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for one in summaries:
        if one not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided"
                f" {one}."
            )
    return summaries


def _rate(given: Any, decay: Any, global_step: Any, wanted: Sequence[str]) -> Any:
    if given is None:
        return None
    if isinstance(given, Tensor) and given.get_shape().ndims == 0:
        rate = given
    elif isinstance(given, float):
        if given < 0.0:
            raise ValueError(f"Invalid learning_rate {given}.")
        rate = get_variable(
            "learning_rate", [], trainable=False,
            initializer=initializers.constant_initializer(given),
        )  # fmt: skip
    else:
        raise ValueError(
            f"Learning rate should be 0d Tensor or float. Got {given} of type {type(given)}"
        )
    if decay is not None:
        if global_step is None:
            raise ValueError("global_step is required for learning_rate_decay_fn.")
        rate = decay(rate, global_step)
        if "learning_rate" in wanted:
            build.scalar("learning_rate", rate)
    return rate


def _optimizer(given: Any, rate: Any) -> Any:
    if isinstance(given, str):
        if rate is None:
            raise ValueError(
                f"Learning rate is None, but should be specified if optimizer is string ({given})."
            )
        if given not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided"
                f" {given}."
            )
        return OPTIMIZER_CLS_NAMES[given](learning_rate=rate)
    if isinstance(given, type) and issubclass(given, Optimizer):
        if rate is None:
            raise ValueError(
                f"Learning rate is None, but should be specified if optimizer is class ({given})."
            )
        return given(learning_rate=rate)  # type: ignore[call-arg]
    if isinstance(given, Optimizer):
        return given
    if not callable(given):
        raise ValueError(
            "Unrecognized optimizer: should be string, subclass of Optimizer, instance of"
            f" subclass of Optimizer or function with one argument. Got {given}."
        )
    made = given(rate) if rate is not None else given()
    if not isinstance(made, Optimizer):
        raise ValueError(
            f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}."
        )
    return made


def _summarize(loss: Any, pairs: Pairs, wanted: Sequence[str], clipped: bool) -> None:
    if "loss" in wanted:
        build.scalar("loss", loss)
    for gradient, variable in pairs:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        if values is None:
            continue
        name = variable.name.replace(":", "_")
        if "gradients" in wanted:
            build.histogram(f"gradients/{name}", values)
        if "gradient_norm" in wanted:
            build.scalar(f"gradient_norm/{name}", global_norm([values]))
    if clipped and ("global_gradient_norm" in wanted or "gradient_norm" in wanted):
        build.scalar(
            "global_norm/clipped_gradient_norm", global_norm(next(zip(*pairs, strict=True)))
        )


# ---- changes of gradients ------------------------------------------------------------------------


def _clipped(pairs: Pairs, most: float) -> Pairs:
    gradients, variables = zip(*pairs, strict=True)
    kept, _ = clip_by_global_norm(gradients, most)
    return list(zip(kept, variables, strict=True))


def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: float = 0.95,
    static_max_norm: float | None = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> Callable[[Pairs], Pairs]:
    """A function for ``clip_gradients``: the largest norm follows those of the steps before.

    Args:
      std_factor: how many deviations above its mean the norm's logarithm may be.
      decay: of the moving averages of mean and square.
      static_max_norm: a bound besides.
      global_step: makes ``decay`` smaller in the first steps.
      report_summary: whether the bound is summarized.
      epsilon: a small number under the logarithm.
      name: variable scope; default "AdaptiveMaxNorm".
    """

    def clip(pairs: Pairs) -> Pairs:
        gradients, variables = zip(*pairs, strict=True)
        norm = global_norm(gradients)
        bound, log_mean = _adaptive_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            build.scalar("global_norm/adaptive_max_gradient_norm", bound)
        factor = where(norm < bound, ones_like(norm), exp(log_mean) / norm)
        if static_max_norm is not None:
            factor = minimum(static_max_norm / norm, factor)
        return list(zip((_scaled(g, factor) for g in gradients), variables, strict=True))

    return clip


def _scaled(gradient: Any, factor: Any) -> Any:
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return None if gradient is None else gradient * factor


def _adaptive_norm(
    norm: Any, std_factor: float, decay: Any, global_step: Any, epsilon: float, name: str | None
) -> tuple[Any, Any]:
    with variable_scope(name, "AdaptiveMaxNorm", [norm]):
        log_norm = log(norm + epsilon)

        def averaged(what: str, value: Any, rate: Any) -> Any:
            average = get_variable(
                what, shape=value.get_shape(), dtype=value.dtype, trainable=False,
                initializer=initializers.zeros_initializer(),
            )  # fmt: skip
            return assign_moving_average(average, value, rate, zero_debias=False)

        if global_step is not None:
            steps = cast(global_step, dtypes.float32)
            decay = minimum(decay, steps / (steps + 1.0))
        mean = averaged("mean", log_norm, decay)
        squares = averaged("sq_mean", square(log_norm), decay)
        deviation = sqrt(maximum(epsilon, squares - square(mean)))
        return exp(mean + std_factor * deviation), mean


def _noisy(pairs: Pairs, scale: float) -> Pairs:
    found = []
    for gradient, variable in pairs:
        if gradient is None:
            found.append((None, variable))
            continue
        sparse = isinstance(gradient, IndexedSlices)
        shape = gradient.dense_shape if sparse else gradient.get_shape()
        found.append((gradient + truncated_normal(shape) * scale, variable))
    return found


def _multiplied(pairs: Pairs, factors: Mapping[Any, Any]) -> Pairs:
    found = []
    for gradient, variable in pairs:
        key = variable if _has(factors, variable) else variable.name
        if gradient is not None and _has(factors, key):
            factor = cast(factors[key], dtypes.float32)
            gradient = _scaled(gradient, factor)
        found.append((gradient, variable))
    return found


def _has(factors: Mapping[Any, Any], key: Any) -> bool:
    return any(known is key or (isinstance(key, str) and known == key) for known in factors)
