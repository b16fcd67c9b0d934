"""Estimators of TensorFlow 0.7 and 0.8 (before: skflow), which TensorFlow 1.15 has no more.

A model function takes batches ``X`` and ``y`` and returns predictions and a loss; arrays train it.
The work is done by ``Estimator``; ``tf.contrib.learn.SKCompat`` is what took their place.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from penstock.contrib.layers.optimizers import optimize_loss
from penstock.contrib.learn import models
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps, NotFittedError
from penstock.contrib.learn.older_ops import IS_TRAINING, dnn, one_hot_matrix
from penstock.contrib.learn.run_config import RunConfig
from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting
from penstock.library.variables.global_step import get_global_step
from penstock.ops.array.cast import cast
from penstock.ops.array.constant import constant
from penstock.ops.array.fill import zeros
from penstock.ops.array.shape import shape as shape_of

_SETTINGS = "model.json"
_SEED = 42


class TensorFlowEstimator:
    """Trains a model function on arrays.

    Args:
      model_fn: ``f(X, y)`` that returns predictions and a loss; ``y`` is one-hot for classes.
      n_classes: how many classes there are; 0 for numbers.
      batch_size: rows of a batch.
      steps: how many steps ``fit`` trains.
      optimizer: an optimizer or its name.
      learning_rate: a number, or a function of the global step.
      clip_gradients: the norm that gradients are cut to, or None.
      class_weight: weights of classes, for model functions that ask for them.
      continue_training: whether a second ``fit`` goes on with what the first trained.
      config: a ``RunConfig``; by default one whose seed is 42, as it was then.
      verbose: accepted for TensorFlow's sake: ``tf.logging`` says what is shown.

    Example:
      >>> import numpy as np
      >>> import penstock as tf
      >>> x = np.array([[0.0], [1.0], [8.0], [9.0]], np.float32)
      >>> model_fn = tf.contrib.learn.models.logistic_regression
      >>> model = tf.contrib.learn.TensorFlowEstimator(model_fn, 2, learning_rate=0.5)
      >>> model.fit(x, np.array([0, 0, 1, 1])).predict(x)
      array([0, 0, 1, 1])
    """

    def __init__(
        self,
        model_fn: Callable[..., tuple[Any, Any]],
        n_classes: int,
        batch_size: int = 32,
        steps: int = 200,
        optimizer: Any = "Adagrad",
        learning_rate: Any = 0.1,
        clip_gradients: float | None = 5.0,
        class_weight: Sequence[float] | None = None,
        continue_training: bool = False,
        config: Any = None,
        verbose: int = 1,
    ) -> None:
        self.model_fn, self.n_classes = model_fn, n_classes
        self.batch_size, self.steps = batch_size, steps
        self.optimizer, self.learning_rate = optimizer, learning_rate
        self.clip_gradients, self.class_weight = clip_gradients, class_weight
        self.continue_training, self._config, self.verbose = continue_training, config, verbose
        self._trained: Estimator | None = None
        self._label_dims: list[int] = []

    def _built(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        collecting.add_to_collection(IS_TRAINING, mode == ModeKeys.TRAIN)
        if self.class_weight is not None:
            constant(self.class_weight, dtypes.float32, name="class_weight")
        step = None
        predictions, loss = self.model_fn(features, self._labels(features, labels))
        if mode == ModeKeys.TRAIN:
            step = optimize_loss(
                loss, get_global_step(), self.learning_rate, self.optimizer,
                clip_gradients=self.clip_gradients, summaries=[],
            )  # fmt: skip
        return ModelFnOps(mode, predictions, loss, step)

    def _labels(self, features: Any, labels: Any) -> Any:
        """Labels for the model function, which makes its loss of them when it predicts as well."""
        if labels is None:
            dims = [shape_of(features)[0], *self._label_dims]
            labels = zeros(dims, dtypes.int64 if self.n_classes else dtypes.float32)
        if self.n_classes > 1:
            return one_hot_matrix(labels, self.n_classes)
        return cast(labels, dtypes.float32)

    def _estimator(self, folder: str | None = None) -> Estimator:
        return Estimator(self._built, folder, self._config or RunConfig(tf_random_seed=_SEED))

    def fit(
        self, x: Any, y: Any, steps: int | None = None, monitors: Any = None, logdir: Any = None
    ) -> TensorFlowEstimator:
        """Trains; anew where ``continue_training`` is not set.

        Args:
          x: features, rows first.
          y: numbers of classes, or numbers.
          steps: how many; default those of the estimator.
          monitors: monitors and hooks.
          logdir: directory of checkpoints and events; default a temporary one.

        Returns:
          The estimator.
        """
        if self._trained is None or not self.continue_training:
            self._trained = self._estimator(logdir)
        return self.partial_fit(x, y, steps or self.steps, monitors)

    def partial_fit(
        self, x: Any, y: Any, steps: int | None = None, monitors: Any = None
    ) -> TensorFlowEstimator:
        """Trains what is there further; arguments are those of ``fit``."""
        if self._trained is None:
            self._trained = self._estimator()
        x, y = _numbers(x), np.asarray(y)
        self._label_dims = list(y.shape[1:])
        count = min(self.batch_size, len(x)) if self.batch_size > 0 else None
        self._trained.fit(x, y, steps=steps or self.steps, batch_size=count, monitors=monitors)
        return self

    def _fitted(self) -> Estimator:
        if self._trained is None:
            raise NotFittedError(
                f"{type(self).__name__} is not fitted yet: call fit before what uses the model"
            )
        return self._trained

    def _outputs(self, x: Any, batch_size: int | None) -> np.ndarray:
        found = self._fitted().predict(_numbers(x), batch_size=batch_size, as_iterable=False)
        return np.asarray(next(iter(found.values())) if isinstance(found, Mapping) else found)

    def predict(self, x: Any, axis: int = 1, batch_size: int | None = None) -> np.ndarray:
        """The class or the number of each row.

        Args:
          x: features.
          axis: the dim of the model's outputs that has the classes.
          batch_size: rows of a batch; default all.

        Raises:
          NotFittedError: nothing was trained.
        """
        found = self._outputs(x, batch_size)
        return found.argmax(axis=axis) if self.n_classes > 1 else found

    def predict_proba(self, x: Any, batch_size: int | None = None) -> np.ndarray:
        """The model's outputs for each row; arguments are those of ``predict``."""
        return self._outputs(x, batch_size)

    def get_variable_names(self) -> list[str]:
        """The names of all variables."""
        return self._fitted().get_variable_names()

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable.

        Args:
          name: its name.
        """
        return self._fitted().get_variable_value(name)

    def get_tensor_value(self, name: str) -> Any:
        """The value of a variable by the name of its tensor, as ``dnn/layer0/Linear/Matrix:0``."""
        return self.get_variable_value(name.partition(":")[0])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What the estimator was made with, by name."""
        del deep
        return {name: each for name, each in vars(self).items() if name[0] != "_"}

    def save(self, path: Any) -> None:
        """Writes the trained variables and what a canned estimator was made with.

        Args:
          path: a folder; made if there is none.
        """
        trained = self._fitted()
        shutil.copytree(trained.model_dir, path, dirs_exist_ok=True)
        state = Path(path, "checkpoint")
        state.write_text(state.read_text().replace(os.fsdecode(trained.model_dir) + os.sep, ""))
        kept = {name: each for name, each in self.get_params().items() if _is_plain(each)}
        saved = {"class": type(self).__name__, "params": kept, "labels": self._label_dims}
        Path(path, _SETTINGS).write_text(json.dumps(saved))

    @classmethod
    def restore(cls, path: Any, config: Any = None) -> TensorFlowEstimator:
        """A canned estimator that ``save`` wrote.

        Args:
          path: the folder.
          config: a ``RunConfig``.

        Raises:
          ValueError: there is none, or it has a model function of its own, which no file has.
        """
        file = Path(path, _SETTINGS)
        if not file.is_file():
            raise ValueError(f"Restore folder doesn't contain model definition: {file} is absent")
        saved = json.loads(file.read_text())
        found = _CANNED.get(saved["class"])
        if found is None:
            raise ValueError(
                f"restore: {saved['class']} has a model function of its own, which no file has;"
                f" allowed are {sorted(_CANNED)}; make it again and fit with logdir={path!s}"
            )
        made: TensorFlowEstimator = found(**saved["params"], config=config)
        made._label_dims = saved["labels"]
        made._trained = made._estimator(os.fsdecode(path))
        return made


def _numbers(x: Any) -> np.ndarray:
    array = np.asarray(x)
    return array.astype(np.float32) if array.dtype.kind in "bf" else array


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | list | tuple)


class _Linear(TensorFlowEstimator):
    @property
    def weights_(self) -> Any:
        """The weights."""
        return self.get_variable_value(f"{self._scope()}/weights")

    @property
    def bias_(self) -> Any:
        """The bias."""
        return self.get_variable_value(f"{self._scope()}/bias")

    def _scope(self) -> str:
        return "logistic_regression" if self.n_classes > 1 else "linear_regression"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What the estimator was made with, by name."""
        return {k: v for k, v in super().get_params(deep).items() if k != "model_fn"}


class TensorFlowLinearClassifier(_Linear):
    """A linear model of classes; arguments are ``TensorFlowEstimator``'s, without the function."""

    def __init__(self, n_classes: int, batch_size: int = 32, steps: int = 200, **kwargs: Any):
        super().__init__(self._model, n_classes, batch_size, steps, **kwargs)

    def _model(self, x: Any, y: Any) -> tuple[Any, Any]:
        return models.logistic_regression(x, y, self.class_weight)


class TensorFlowLinearRegressor(_Linear):
    """A linear model of numbers; arguments are ``TensorFlowEstimator``'s."""

    def __init__(self, n_classes: int = 0, batch_size: int = 32, steps: int = 200, **kwargs: Any):
        super().__init__(models.linear_regression, n_classes, batch_size, steps, **kwargs)


class _Network(_Linear):
    hidden_units: Sequence[int]
    dropout: float | None

    def _hidden(self, x: Any) -> Any:
        return dnn(x, self.hidden_units, dropout=self.dropout)

    @property
    def weights_(self) -> list[Any]:
        """The weights of each layer, the last one's at the end."""
        return [*self._of_layers("Matrix"), super().weights_]

    @property
    def bias_(self) -> list[Any]:
        """The bias of each layer, the last one's at the end."""
        return [*self._of_layers("Bias"), super().bias_]

    def _of_layers(self, name: str) -> list[Any]:
        count = len(self.hidden_units)
        return [self.get_variable_value(f"dnn/layer{i}/Linear/{name}") for i in range(count)]


class TensorFlowDNNClassifier(_Network):
    """A network of classes.

    Args:
      hidden_units: size of each layer.
      n_classes, batch_size, steps: as of ``TensorFlowEstimator``, as the rest.
      dropout: share of each layer's outputs that is dropped while training.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        n_classes: int,
        batch_size: int = 32,
        steps: int = 200,
        dropout: float | None = None,
        **kwargs: Any,
    ):
        self.hidden_units, self.dropout = list(hidden_units), dropout
        super().__init__(self._model, n_classes, batch_size, steps, **kwargs)

    def _model(self, x: Any, y: Any) -> tuple[Any, Any]:
        return models.logistic_regression(self._hidden(x), y, self.class_weight)


class TensorFlowDNNRegressor(_Network):
    """A network of numbers; arguments are ``TensorFlowDNNClassifier``'s."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        n_classes: int = 0,
        batch_size: int = 32,
        steps: int = 200,
        dropout: float | None = None,
        **kwargs: Any,
    ):
        self.hidden_units, self.dropout = list(hidden_units), dropout
        super().__init__(self._model, n_classes, batch_size, steps, **kwargs)

    def _model(self, x: Any, y: Any) -> tuple[Any, Any]:
        return models.linear_regression(self._hidden(x), y)


_CANNED: dict[str, Any] = {
    each.__name__: each
    for each in (
        TensorFlowDNNClassifier, TensorFlowDNNRegressor, TensorFlowLinearClassifier,
        TensorFlowLinearRegressor,
    )
}  # fmt: skip
