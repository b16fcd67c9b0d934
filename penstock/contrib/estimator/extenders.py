"""Estimators and optimizers made of others: features handed on, gradients clipped; exports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array.indexed_slices import convert_to_tensor_or_sparse_tensor
from penstock.ops.math.clip import clip_by_global_norm
from penstock.ops.sparse.sparse import sparse_tensor_to_dense
from penstock.training.estimator.estimator import Estimator
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.export_outputs import PredictOutput
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.train.optimizer import Optimizer


class _Clipping(Optimizer):
    """Another optimizer that gets clipped gradients."""

    def __init__(self, optimizer: Any, clip_norm: Any) -> None:
        super().__init__(False, f"ClipByNorm{optimizer.get_name()}")
        self._optimizer, self._clip_norm = optimizer, clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[Any]:
        found: list[Any] = self._optimizer.compute_gradients(*args, **kwargs)
        return found

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        gradients, variables = zip(*grads_and_vars)
        clipped, _ = clip_by_global_norm(gradients, self._clip_norm)
        return self._optimizer.apply_gradients(list(zip(clipped, variables)), global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot_names(*args, **kwargs)


def clip_gradients_by_norm(optimizer: Any, clip_norm: Any) -> Any:
    """An optimizer that clips gradients by their global norm before it applies them.

    Args:
      optimizer: the optimizer that applies them.
      clip_norm: the largest norm.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     w = tf.get_variable("w", initializer=0.0)
      ...     plain = tf.train.GradientDescentOptimizer(1.0)
      ...     step = tf.contrib.estimator.clip_gradients_by_norm(plain, 0.5).minimize(w * 8.0)
      ...     sess.run(tf.global_variables_initializer())
      ...     _ = sess.run(step)
      ...     float(sess.run(w))
      -0.5
    """
    return _Clipping(optimizer, clip_norm)


def forward_features(
    estimator: Estimator, keys: Any = None, sparse_default_values: Mapping[str, Any] | None = None
) -> Estimator:
    """An estimator with the model and directory of another one that also predicts its features.

    Args:
      estimator: the other one.
      keys: a feature's key, or several; default all.
      sparse_default_values: for sparse features, what stands where they have no value.

    Raises:
      TypeError: keys are no strings.
      ValueError: (as the model is built) a feature is missing, sparse, or called as a prediction.

    Example:
      >>> import penstock as tf
      >>> data = lambda: tf.data.Dataset.from_tensors({"id": [[7]]})
      >>> made = tf.contrib.estimator.forward_features(tf.estimator.BaselineRegressor(), "id")
      >>> [each["id"].tolist() for each in made.predict(data)]
      [[7]]
    """
    wanted = _checked_keys(keys)

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        forwarded = list(features) if wanted is None else wanted
        _check_forwarded(forwarded, features, spec.predictions)
        found = {key: _dense(key, features[key], sparse_default_values or {}) for key in forwarded}
        for name in ("predict", "serving_default"):
            output = (spec.export_outputs or {}).get(name)
            if isinstance(output, PredictOutput):
                output.outputs.update(found)
        return spec._replace(predictions={**spec.predictions, **found})

    return Estimator(model_fn, estimator.model_dir, estimator.config)


def _checked_keys(keys: Any) -> list[str] | None:
    if keys is None or isinstance(keys, str):
        return keys if keys is None else [keys]
    if not isinstance(keys, list | tuple):
        raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(
                "All items in the given keys list should be a string. There exist an item with"
                f" type: {type(key)}"
            )
    return list(keys)


def _check_forwarded(keys: Iterable[str], features: Any, predictions: Any) -> None:
    if not isinstance(predictions, dict):
        raise ValueError(
            "Predictions should be a dict to be able to forward features. Given:"
            f" {type(predictions)}"
        )
    for key in keys:
        if key not in features:
            raise ValueError(
                f'keys should be exist in features. Key "{key}" is not in features dict. features'
                f" dict has following keys: {list(features)}."
            )
        if key in predictions:
            raise ValueError(
                f"Cannot forward feature key ({key}). Since it does exist in predictions. Existing"
                f" prediction keys: {list(predictions)}."
            )


def _dense(key: str, feature: Any, defaults: Mapping[str, Any]) -> Any:
    found = convert_to_tensor_or_sparse_tensor(feature)
    if key in defaults:
        if not isinstance(found, SparseTensor):
            raise ValueError(f"Feature ({key}) is expected to be a `SparseTensor`.")
        return sparse_tensor_to_dense(found, default_value=defaults[key])
    if not isinstance(found, Tensor):
        raise ValueError(
            f"Feature ({key}) should be a Tensor. Please use `keys` argument of forward_features to"
            f" filter unwanted features, or add key to argument `sparse_default_values`. Type of"
            f" features[{key}] is {type(found)}."
        )
    return found


# ---- exports -------------------------------------------------------------------------------------


def export_saved_model_for_mode(
    estimator: Estimator, export_dir_base: Any, input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, Any] | None = None, as_text: bool = False,
    checkpoint_path: Any = None, mode: str = ModeKeys.PREDICT,
) -> bytes:  # fmt: skip
    """``estimator.export_saved_model`` of any mode.

    Args:
      estimator: the estimator.
      export_dir_base, assets_extra, as_text, checkpoint_path: as of its method.
      input_receiver_fn: returns what the mode takes.
      mode: a value of ``ModeKeys``.
    """
    return estimator.export_saved_model(
        export_dir_base, input_receiver_fn, assets_extra, as_text, checkpoint_path, mode
    )


def export_all_saved_models(
    estimator: Estimator, export_dir_base: Any,
    input_receiver_fn_map: Mapping[str, Callable[[], Any]],
    assets_extra: Mapping[str, Any] | None = None, as_text: bool = False,
    checkpoint_path: Any = None,
) -> bytes:  # fmt: skip
    """``estimator.experimental_export_all_saved_models``.

    Args:
      estimator: the estimator.
      export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path: as of its
        method.
    """
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
    )
