"""An estimator made of a SavedModel: each mode is a MetaGraph that another estimator exported."""

from __future__ import annotations

import logging
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.formats import files
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.storage.checkpoint.reader import list_variables
from penstock.storage.checkpoint.saver import import_meta_graph
from penstock.storage.saved_model import constants, loader, signature_constants, tag_constants
from penstock.training.estimator.estimator import Estimator
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.export_outputs import PredictOutput
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.estimator.receivers import SINGLE_FEATURE, SINGLE_LABEL, checked
from penstock.training.estimator.warm_starting import WarmStartSettings
from penstock.training.monitored.scaffold import Scaffold

_log = logging.getLogger("penstock")
_DEFAULT = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
# The tag of each mode's MetaGraph, and the signature in it.
_EXPORTED = {
    ModeKeys.TRAIN: (tag_constants.TRAINING, ModeKeys.TRAIN),
    ModeKeys.EVAL: ("eval", ModeKeys.EVAL),
    ModeKeys.PREDICT: (tag_constants.SERVING, _DEFAULT),
}
# What the writer of a SavedModel files for its reader; a later export files its own.
_OF_THE_EXPORT = (
    constants.ASSETS_KEY, constants.LEGACY_INIT_OP_KEY, constants.MAIN_OP_KEY,
    constants.TRAIN_OP_KEY,
)  # fmt: skip


class _NewerEstimator(Estimator):
    """An estimator without the older form of ``export_saved_model``."""

    @property
    def export_savedmodel(self) -> Any:
        """Is not there.

        Raises:
          AttributeError: always.
        """
        raise AttributeError(
            "`Estimator.export_savedmodel` has been deprecated. Please use `export_saved_model`"
            " instead."
        )


class SavedModelEstimator(_NewerEstimator):
    """Trains, evaluates and predicts with the graphs of a SavedModel.

    Variables begin with the values in the SavedModel.  There is neither a ``RunConfig`` nor
    ``params``: the graphs are what they were when they were exported.  Files that they name (words
    of a vocabulary) are read where they were then.

    Args:
      saved_model_dir: the folder of what ``Estimator.export_saved_model`` or
        ``experimental_export_all_saved_models`` wrote; of the first, only ``predict`` can be used.
      model_dir: directory of new checkpoints; default a temporary one.

    Raises:
      ValueError: the folder holds no SavedModel.  In use: features and labels lack an input of the
        signature, one has another dtype or shape, or is sparse.
      RuntimeError: in use: the mode was not exported.

    Example:
      >>> import penstock as tf, tempfile
      >>> def model_fn(features, labels, mode):
      ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
      ...     predictions = {"y": w * features["x"]}
      ...     if mode == "infer":
      ...         return tf.estimator.EstimatorSpec(mode, predictions)
      ...     loss = tf.reduce_mean(tf.square(predictions["y"] - labels))
      ...     train = tf.train.GradientDescentOptimizer(0.1).minimize(
      ...         loss, tf.train.get_global_step())
      ...     return tf.estimator.EstimatorSpec(mode, predictions, loss, train)
      >>> data = lambda: tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [3.0, 6.0])).repeat()
      >>> given = tf.estimator.Estimator(model_fn, tempfile.mkdtemp()).train(data, steps=1)
      >>> receive = tf.contrib.estimator.build_supervised_input_receiver_fn_from_input_fn(data)
      >>> folder = tf.contrib.estimator.export_all_saved_models(
      ...     given, tempfile.mkdtemp(), {"train": receive, "eval": receive})
      >>> made = tf.contrib.estimator.SavedModelEstimator(folder)
      >>> trained = made.train(data, steps=20)
      >>> round(float(trained.get_variable_value("w")), 3)
      3.0
      >>> int(trained.get_variable_value("global_step"))
      21

    Source: the behaviour of ``tf.contrib.estimator.SavedModelEstimator`` of TensorFlow 1.15.
    """

    def __init__(self, saved_model_dir: Any, model_dir: Any = None) -> None:
        if not loader.contains_saved_model(saved_model_dir):
            raise ValueError(
                f"Directory provided has an invalid SavedModel format: {saved_model_dir}"
            )
        self._saved_model_loader = loader.SavedModelLoader(saved_model_dir)
        for mode in _EXPORTED:
            if self._meta_graph(mode) is None:
                _log.warning("%s mode not found in SavedModel.", mode)
        path = self._saved_model_loader.variables_path
        names = [name for name, _ in list_variables(path)] if files.exists(f"{path}.index") else []
        settings = WarmStartSettings(path, names) if names else None
        super().__init__(self._model_fn_of_mode, model_dir, warm_start_from=settings)

    def _create_global_step(self, graph: Graph) -> None:
        """Makes none: it comes with the MetaGraph."""

    def _meta_graph(self, mode: str) -> Any:
        """The MetaGraph of a mode, or None where there is none with its signature."""
        tag, key = _EXPORTED[mode]
        for each in self._saved_model_loader.saved_model.meta_graphs:
            if list(each.meta_info_def.tags) == [tag] and key in each.signature_def:
                return each
        return None

    def _model_fn_of_mode(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        meta_graph = self._meta_graph(mode)
        tag, key = _EXPORTED[mode]
        if meta_graph is None:
            raise RuntimeError(
                f"{mode} mode is not available in the SavedModel. It has no MetaGraph of the tag"
                f" {tag!r} with the signature {key!r}; saved_model_cli shows what it has"
            )
        signature = meta_graph.signature_def[key]
        graph = scopes.get_default_graph()
        saver = import_meta_graph(meta_graph, input_map=_input_map(signature, features, labels))
        if saver is not None and not graph.get_collection(GraphKeys.SAVERS):
            collecting.add_to_collection(GraphKeys.SAVERS, saver)
        outputs = {
            name: graph.get_tensor_by_name(info.name) for name, info in signature.outputs.items()
        }
        initializers = graph.get_collection(constants.MAIN_OP_KEY)
        train_ops = graph.get_collection(constants.TRAIN_OP_KEY)
        for name in _OF_THE_EXPORT:
            graph.clear_collection(name)
        return _spec(
            mode, outputs, Scaffold(local_init_op=initializers[0] if initializers else None),
            train_ops[0] if train_ops else None,
        )  # fmt: skip


def _spec(mode: str, outputs: dict[str, Any], scaffold: Scaffold, train_op: Any) -> EstimatorSpec:
    """What the outputs of a mode's signature are to an estimator."""
    if mode == ModeKeys.PREDICT:
        exported = {_DEFAULT: PredictOutput(outputs)}
        return EstimatorSpec(mode, outputs, export_outputs=exported, scaffold=scaffold)
    updates = {
        name.removesuffix("/update_op"): tensor
        for name, tensor in outputs.items()
        if name.startswith("metrics/") and name.endswith("/update_op")
    }
    return EstimatorSpec(
        mode,
        {name: tensor for name, tensor in outputs.items() if name.startswith("predictions")},
        outputs["loss"],
        train_op,
        {name: (outputs[f"{name}/value"], update) for name, update in updates.items()},
        scaffold=scaffold,
    )


def _input_map(signature: Any, features: Any, labels: Any) -> dict[str, Any]:
    """From the names of a signature's inputs to what is given for them."""
    given = checked(features, "feature", SINGLE_FEATURE, may_number=True)
    if labels is not None:
        given = {**given, **checked(labels, "label", SINGLE_LABEL, may_number=True)}
    missing = sorted(key for key in signature.inputs if key not in given)
    if missing:
        raise ValueError(
            f'Key "{missing[0]}" not found in features or labels passed in to the model function.'
            f" All required keys: {sorted(signature.inputs)}; given are {list(given)}"
        )
    for key, info in signature.inputs.items():
        _check(key, info, given[key])
    return {info.name: given[key] for key, info in signature.inputs.items()}


def _check(key: str, info: Any, tensor: Any) -> None:
    """Raises ``ValueError`` where a tensor is not as the signature says."""
    if info.WhichOneof("encoding") != "name":
        raise ValueError(f"input {key} of the SavedModel is sparse; it must be a single tensor")
    dtype, shape = dtypes.as_dtype(info.dtype), TensorShape(info.tensor_shape)
    wrong = []
    if tensor.dtype != dtype:
        wrong.append(f"\n\tExpected dtype: {dtype}, Got: {tensor.dtype}")
    if not shape.is_compatible_with(tensor.shape):
        wrong.append(f"\n\tExpected shape: {shape}, Got: {tensor.shape}")
    if wrong:
        raise ValueError(
            f"Tensor shape and/or dtype validation failed for input {key}:{''.join(wrong)}"
        )
