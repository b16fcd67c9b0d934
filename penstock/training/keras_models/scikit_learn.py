"""Models as estimators of scikit-learn: ``tf.keras.wrappers.scikit_learn``."""

from __future__ import annotations

import copy
import inspect
import types
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from penstock.training.keras_models import losses
from penstock.training.keras_models.labels import to_categorical
from penstock.training.keras_models.sequential import Sequential

_CATEGORICAL = "categorical_crossentropy"


class BaseWrapper:
    """What both estimators share.

    Args:
      build_fn: makes and compiles a model: a function, or an object with ``__call__``; None: the
        estimator's own ``__call__``, which a subclass gives.
      **sk_params: arguments of ``build_fn``, and of the model's ``fit``, ``predict``,
        ``predict_classes`` and ``evaluate``.

    Raises:
      ValueError: an argument that none of them takes.
    """

    _kind = "classifier"

    def __init__(self, build_fn: Any = None, **sk_params: Any) -> None:
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def _builder(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """What makes a model, and what has its signature."""
        if self.build_fn is None:
            own: Any = self
            return own.__call__, own.__call__
        if isinstance(self.build_fn, types.FunctionType | types.MethodType):
            return self.build_fn, self.build_fn
        return self.build_fn, self.build_fn.__call__

    def check_params(self, params: dict[str, Any]) -> None:
        """Refuses arguments that nothing takes.

        Raises:
          ValueError: there is one.
        """
        takers: list[Callable[..., Any]] = [
            Sequential.fit, Sequential.predict, Sequential.predict_classes, Sequential.evaluate,
            self._builder()[1],
        ]  # fmt: skip
        for name in params:
            if name != "nb_epoch" and not any(_takes(one, name) for one in takers):
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params: Any) -> dict[str, Any]:
        """The arguments that it was made with, ``build_fn`` among them; others are ignored."""
        return copy.deepcopy(self.sk_params) | {"build_fn": self.build_fn}

    def set_params(self, **params: Any) -> Any:
        """Changes arguments; returns the estimator.

        Raises:
          ValueError: an argument that nothing takes.
        """
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Makes a model and trains it.

        Args:
          x: [samples, ...].
          y: [samples] or [samples, outputs].
          **kwargs: of ``Model.fit``; they come before those of the estimator.

        Returns:
          A ``History``.
        """
        build, signature = self._builder()
        self.model = build(**self.filter_sk_params(signature))
        loss = self.model.loss
        categorical = loss in (_CATEGORICAL, losses.categorical_crossentropy)
        if (categorical or isinstance(loss, losses.CategoricalCrossentropy)) and y.ndim != 2:
            y = to_categorical(y)
        given = copy.deepcopy(self.filter_sk_params(Sequential.fit)) | kwargs
        return self.model.fit(x, y, **given)

    def filter_sk_params(
        self, fn: Callable[..., Any], override: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The estimator's arguments that ``fn`` takes, and ``override`` before them."""
        found = {name: value for name, value in self.sk_params.items() if _takes(fn, name)}
        return found | (override or {})

    def __sklearn_tags__(self) -> Any:
        """What newer releases of scikit-learn ask of an estimator."""
        tags = import_module("sklearn.utils")
        classifier = self._kind == "classifier"
        return tags.Tags(
            estimator_type=self._kind, target_tags=tags.TargetTags(required=True),
            classifier_tags=tags.ClassifierTags() if classifier else None,
            regressor_tags=None if classifier else tags.RegressorTags(),
        )  # fmt: skip


def _takes(fn: Callable[..., Any], name: str) -> bool:
    found = inspect.signature(fn).parameters.get(name)
    return found is not None and found.kind in (found.POSITIONAL_OR_KEYWORD, found.KEYWORD_ONLY)


class KerasClassifier(BaseWrapper):
    """A model that tells classes as an estimator of scikit-learn; arguments as of the base.

    Example:
      >>> import numpy as np
      >>> import penstock as tf
      >>> def build(rate=0.1):
      ...     model = tf.keras.Sequential([
      ...         tf.keras.layers.Dense(2, "softmax", input_shape=[1], kernel_initializer="zeros")])
      ...     model.compile(tf.keras.optimizers.SGD(rate), "categorical_crossentropy", ["acc"])
      ...     return model
      >>> x = np.array([[-1.0], [-2.0], [1.0], [2.0]])
      >>> with tf.Graph().as_default():
      ...     tells = tf.keras.wrappers.scikit_learn.KerasClassifier(build, epochs=5, verbose=0)
      ...     history = tells.fit(x, np.array(["low", "low", "high", "high"]))
      ...     tells.predict(np.array([[-3.0], [3.0]])).tolist()
      ['low', 'high']
    """

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Makes a model and trains it; see the base.

        Args:
          y: classes [samples] or [samples, 1], or what marks them [samples, classes].

        Raises:
          ValueError: y has another shape.
        """
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif (y.ndim == 2 and y.shape[1] == 1) or y.ndim == 1:
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Invalid shape for y: {y.shape}")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The likeliest class of each sample, [samples].

        Args:
          x: [samples, ...].
          **kwargs: of ``Sequential.predict_classes``.
        """
        given = self.filter_sk_params(Sequential.predict_classes, kwargs)
        return self.classes_[self.model.predict_classes(x, **given)]

    def predict_proba(self, x: Any, **kwargs: Any) -> Any:
        """How likely the classes are, [samples, classes].

        Args:
          x: [samples, ...].
          **kwargs: of ``Sequential.predict_proba``.
        """
        given = self.filter_sk_params(Sequential.predict_proba, kwargs)
        found = self.model.predict_proba(x, **given)
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def score(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Which part of the samples is told rightly.

        Args:
          x, y: samples and their classes.
          **kwargs: of ``Sequential.evaluate``.

        Raises:
          ValueError: the model was compiled without ``metrics=["accuracy"]``.
        """
        y = np.searchsorted(self.classes_, y)
        loss = getattr(self.model.loss, "__name__", self.model.loss)
        if loss == _CATEGORICAL and y.ndim != 2:
            y = to_categorical(y)
        found = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        values = found if isinstance(found, list) else [found]
        for name, value in zip(self.model.metrics_names, values, strict=False):
            if name in ("accuracy", "acc"):
                return value
        raise ValueError(
            "The model is not configured to compute accuracy. You should pass"
            ' `metrics=["accuracy"]` to the `model.compile()` method.'
        )


class KerasRegressor(BaseWrapper):
    """A model that tells numbers as an estimator of scikit-learn; arguments as of the base."""

    _kind = "regressor"

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The numbers, without dims of size one.

        Args:
          x: [samples, ...].
          **kwargs: of ``Sequential.predict``.
        """
        given = self.filter_sk_params(Sequential.predict, kwargs)
        return np.squeeze(self.model.predict(x, **given))

    def score(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """The negative loss: the greater the better.

        Args:
          x, y: samples and their numbers.
          **kwargs: of ``Sequential.evaluate``.
        """
        found = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return -(found[0] if isinstance(found, list) else found)
