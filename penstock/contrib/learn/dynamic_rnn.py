"""``DynamicRnnEstimator``: a recurrent network with a value for each step, or one for a sequence.

Scopes, variables and predictions are TensorFlow 1.15's.  The state of the cells is among the
predictions and, under the same names, may be among the features.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.contrib.layers import targets
from penstock.contrib.layers.columns.layers import (
    input_from_feature_columns,
    sequence_input_from_feature_columns,
)
from penstock.contrib.layers.dense import fully_connected
from penstock.contrib.layers.optimizers import OPTIMIZER_SUMMARIES, optimize_loss
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from penstock.contrib.metrics.renamed import streaming_accuracy
from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest, scopes
from penstock.library.recurrent.basic import BasicRNNCell, GRUCell
from penstock.library.recurrent.cell import RNNCell
from penstock.library.recurrent.dynamic import dynamic_rnn
from penstock.library.recurrent.lstm import LSTMCell
from penstock.library.recurrent.multi import MultiRNNCell
from penstock.library.recurrent.wrappers import DropoutWrapper
from penstock.library.variables.global_step import get_global_step
from penstock.ops.array import gather, join, ranges, reshape, shape as shaping, tile
from penstock.ops.array.onehot import sequence_mask
from penstock.ops.array.slicing import boolean_mask
from penstock.ops.control.check import assert_equal, assert_rank, assert_type
from penstock.ops.control.control import identity
from penstock.ops.math.argmax import argmax
from penstock.training.train.momentum import MomentumOptimizer

STATE_PREFIX = "rnn_cell_state"
SEQUENCE_LENGTH_KEY = "sequence_length"
_CELLS: dict[str, Any] = {"basic_rnn": BasicRNNCell, "lstm": LSTMCell, "gru": GRUCell}


class PredictionType:
    """How many values a sequence has."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


class RNNKeys:
    """Names of features and predictions."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = SEQUENCE_LENGTH_KEY
    STATE_PREFIX = STATE_PREFIX


# ---- the network ---------------------------------------------------------------------------------


def construct_rnn_cell(
    num_units: Any, cell_type: Any = "basic_rnn", dropout_keep_probabilities: Any = None
) -> Any:
    """Cells, one above the other.

    Args:
      num_units: the size of each, or of the only one.
      cell_type: "basic_rnn", "lstm", "gru", or a class of cells.
      dropout_keep_probabilities: of the input of each cell, and of the last one's output.

    Raises:
      ValueError: no such type, or another number of probabilities.
    """
    sizes = num_units if isinstance(num_units, list | tuple) else [num_units]
    cells = [_cell(cell_type, size) for size in sizes]
    if dropout_keep_probabilities:
        cells = _with_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else MultiRNNCell(cells)


def _cell(kind: Any, size: int) -> Any:
    made = _CELLS.get(kind, kind) if isinstance(kind, str) else kind
    if made is None or not issubclass(made, RNNCell):
        raise ValueError(f"The provided cell type must be one of {sorted(_CELLS)}, or a RNNCell.")
    return made(num_units=size)


def _with_dropout(cells: list[Any], keep: Sequence[float]) -> list[Any]:
    if len(keep) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilites must be one greater than the number of cells. Got"
            f" {len(cells)} cells and {len(keep)} dropout probabilities."
        )
    outputs = [1.0] * (len(cells) - 1) + [keep[-1]]
    return [
        DropoutWrapper(cell, input_keep_prob=before, output_keep_prob=after)
        for cell, before, after in zip(cells, keep, outputs, strict=False)
    ]


def _sequence_input(features: Mapping[Any, Any], sequence: Any, context: Any) -> Any:
    found = sequence_input_from_feature_columns(dict(features), sequence)
    if context is None:
        return found
    return _with_context(found, input_from_feature_columns(dict(features), context))


def _with_context(sequence: Any, context: Any) -> Any:
    """The sequence with the context after each of its steps."""
    checks = []
    for given, rank in ((sequence, 3), (context, 2)):
        data = [f"the input must have rank {rank}; its shape is", shaping.shape(given)]
        checks.append(assert_rank(given, rank, data))
        checks.append(assert_type(given, dtypes.float32))
    with scopes.control_dependencies(checks):
        padded = shaping.shape(sequence)[1]
        wide = reshape.expand_dims(context, 1)
        each = tile.tile(wide, join.concat([[1], [padded], [1]], 0))
    return join.concat([sequence, each], 2)


def _states_of(state: Any) -> dict[str, Any]:
    with scopes.name_scope("state_tuple_to_dict"):
        names = (f"{STATE_PREFIX}_{i}" for i in itertools.count())
        return {
            name: identity(one, name) for name, one in zip(names, nest.flatten(state), strict=False)
        }


def _given_state(features: Mapping[Any, Any], cell: Any) -> Any:
    """The state that the features have, or None.

    Raises:
      ValueError: they have a part of it.
    """
    sizes = nest.flatten(cell.state_size)
    names = [f"{STATE_PREFIX}_{i}" for i in range(len(sizes))]
    given = [features[name] for name in names if name in features]
    if not given:
        return None
    if len(given) < len(sizes):
        raise ValueError(
            "RNN state was partially specified. Expected zero or"
            f" {len(sizes)} state Tensors; got {len(given)}"
        )
    with scopes.name_scope("dict_to_state_tuple"):
        checked = [_checked(*each) for each in zip(itertools.count(), names, given, sizes)]
        like = cell.zero_state(given[0].shape.as_list()[0], dtypes.float32)
        return nest.pack_sequence_as(like, checked)


def _checked(number: int, name: str, state: Any, size: int) -> Any:
    checks = [
        assert_rank(state, 2, name=f"check_state_{number}_rank"),
        assert_equal(shaping.shape(state)[1], size, name=f"check_state_{number}_shape"),
    ]
    with scopes.control_dependencies(checks):
        return identity(state, name)


def _activations(state: Any, inputs: Any, cell: Any, columns: int, options: Any) -> Any:
    with scopes.name_scope("RNN"):
        outputs, final = dynamic_rnn(
            cell, inputs, initial_state=state, dtype=dtypes.float32, time_major=False, **options
        )
        return fully_connected(outputs, columns, activation_fn=None, trainable=True), final


# ---- one value, or a value for each step ---------------------------------------------------------


def _last(activations: Any, lengths: Any) -> Any:
    with scopes.name_scope("select_last_activations"):
        whole = shaping.shape(activations)
        batch, padded, columns = whole[0], whole[1], whole[2]
        if lengths is None:
            lengths = padded
        flat = reshape.reshape(activations, [-1, columns])
        found = gather.gather(flat, ranges.range_(batch) * padded + lengths - 1)
        found.set_shape([activations.shape[0], activations.shape[2]])
        return found


def _unpadded(activations: Any, labels: Any, lengths: Any) -> tuple[Any, Any]:
    with scopes.name_scope("mask_activations_and_labels"):
        whole = shaping.shape(labels)
        batch, padded = whole[0], whole[1]
        if lengths is None:
            steps = batch * padded
            return reshape.reshape(activations, [steps, -1]), reshape.reshape(labels, [steps])
        mask = sequence_mask(lengths, padded)
        return boolean_mask(activations, mask), boolean_mask(labels, mask)


class _Kind:
    """What a model predicts, and how that is compared with labels."""

    def __init__(self, problem: int, several: bool, target: Any, probabilities: bool) -> None:
        self.is_class, self.several = problem == ProblemType.CLASSIFICATION, several
        self.target, self.probabilities = target, probabilities
        one = "MultiValue" if several else "SingleValue"
        self.scope = f"{one}DynamicRNN{'Classifier' if self.is_class else 'Regressor'}"
        self.prefix = one

    def predictions(self, activations: Any, lengths: Any) -> dict[str, Any]:
        with scopes.name_scope(f"{self.prefix}Prediction"):
            if not self.several:
                return self._named(_last(activations, lengths))
            whole = shaping.shape(activations)
            batch, padded, columns = whole[0], whole[1], whole[2]
            flat = reshape.reshape(activations, [-1, columns])
            flat.set_shape([None, activations.shape[2]])
            found = self._named(flat)
            binary = self.target.num_label_columns == 1
            by_class = [batch, padded, 2] if binary else whole
            steps = {PredictionKey.PROBABILITIES: by_class}
            return {
                key: reshape.reshape(value, steps.get(key, [batch, padded]), name=key)
                for key, value in found.items()
            }

    def _named(self, flat: Any) -> dict[str, Any]:
        if not self.is_class:
            return {PredictionKey.SCORES: self.target.logits_to_predictions(flat)}
        if not self.probabilities:
            return {PredictionKey.CLASSES: self.target.logits_to_predictions(flat)}
        found = self.target.logits_to_predictions(flat, proba=True)
        classes = argmax(found, 1)
        return {PredictionKey.PROBABILITIES: found, PredictionKey.CLASSES: classes}

    def loss(self, activations: Any, labels: Any, lengths: Any, features: Any) -> Any:
        with scopes.name_scope(f"{self.prefix}Loss"):
            if not self.several:
                return self.target.loss(_last(activations, lengths), labels, features)
            return self.target.loss(*_unpadded(activations, labels, lengths), features)

    def metrics(self, predictions: Mapping[str, Any], labels: Any, lengths: Any) -> dict[str, Any]:
        if not self.is_class:
            return {}
        classes = predictions[PredictionKey.CLASSES]
        if self.several:
            classes, labels = _unpadded(classes, labels, lengths)
        return {"accuracy": streaming_accuracy(predictions=classes, labels=labels)}

    def alternatives(self, predictions: Mapping[str, Any]) -> Any:
        """What a model that is exported gives: of a value for each step nothing is agreed."""
        if self.several:
            return None
        problem = ProblemType.CLASSIFICATION if self.is_class else ProblemType.LINEAR_REGRESSION
        return {None: (problem, dict(predictions))}


# ---- the estimator -------------------------------------------------------------------------------


class DynamicRnnEstimator(Estimator):
    """A recurrent network over sequences of any length.

    Args:
      problem_type: ``ProblemType.CLASSIFICATION`` or ``LINEAR_REGRESSION``.
      prediction_type: ``PredictionType.SINGLE_VALUE``, one value for a sequence, or
        ``MULTIPLE_VALUE``, one for each step.
      sequence_feature_columns: columns of the steps.
      context_feature_columns: columns of the whole sequence, which each step is given.
      num_classes: how many classes there are.
      num_units: the size of the cell, or of each of several.
      cell_type: "basic_rnn", "lstm", "gru", or a class of cells.
      optimizer: a name or an optimizer.
      learning_rate: the rate of an optimizer that is named.
      predict_probabilities: whether the probabilities of classes are among the predictions.
      momentum: of the optimizer "Momentum".
      gradient_clipping_norm: the norm that all gradients are cut to; None for none.
      dropout_keep_probabilities: of the input of each cell, and of the last one's output.
      model_dir: directory of checkpoints and events.
      feature_engineering_fn: from features and labels to those of the model.
      config: a ``RunConfig``.

    Features may have ``sequence_length``, [batch], and states named ``rnn_cell_state_0`` and so on.

    Raises:
      ValueError: another type of problem or prediction, or classes of which no number is known.
    """

    def __init__(
        self, problem_type: int, prediction_type: int, sequence_feature_columns: Any,
        context_feature_columns: Any = None, num_classes: int | None = None, num_units: Any = None,
        cell_type: Any = "basic_rnn", optimizer: Any = "SGD", learning_rate: float = 0.1,
        predict_probabilities: bool = False, momentum: float | None = None,
        gradient_clipping_norm: float | None = 5.0, dropout_keep_probabilities: Any = None,
        model_dir: Any = None, feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        config: Any = None,
    ) -> None:  # fmt: skip
        if prediction_type not in (PredictionType.SINGLE_VALUE, PredictionType.MULTIPLE_VALUE):
            raise ValueError(
                "prediction_type must be one of PredictionType.MULTIPLE_VALUE or"
                f" PredictionType.SINGLE_VALUE; got {prediction_type}"
            )
        target = _target(problem_type, num_classes)
        several = prediction_type == PredictionType.MULTIPLE_VALUE
        kind = _Kind(problem_type, several, target, predict_probabilities)
        if optimizer == "Momentum" or momentum:
            optimizer = MomentumOptimizer(learning_rate, momentum)
        training = {
            "learning_rate": learning_rate, "optimizer": optimizer,
            "clip_gradients": gradient_clipping_norm, "summaries": OPTIMIZER_SUMMARIES,
        }  # fmt: skip
        keep = dropout_keep_probabilities

        def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
            with scopes.name_scope(kind.scope):
                inputs = _sequence_input(
                    features, sequence_feature_columns, context_feature_columns
                )
                dropped = keep if mode == ModeKeys.TRAIN else None
                cell = construct_rnn_cell(num_units, cell_type, dropped)
                return _model(kind, cell, inputs, features, labels, mode, training)

        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)


def _target(problem: int, classes: int | None) -> Any:
    if problem == ProblemType.LINEAR_REGRESSION:
        return targets.regression_target(label_dimension=1)
    if problem != ProblemType.CLASSIFICATION:
        raise ValueError(
            "problem_type must be ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION;"
            f" got {problem}"
        )
    if not classes:
        raise ValueError("For CLASSIFICATION problem_type, num_classes must be specified.")
    return targets.multi_class_target(classes)


def _model(
    kind: _Kind, cell: Any, inputs: Any, features: Any, labels: Any, mode: str, training: Any
) -> ModelFnOps:
    state, lengths = _given_state(features, cell), features.get(SEQUENCE_LENGTH_KEY)
    options = {"parallel_iterations": None, "swap_memory": True}
    activations, final = _activations(state, inputs, cell, kind.target.num_label_columns, options)
    predictions = kind.predictions(activations, lengths)
    loss, metrics, train_op = None, None, None
    if mode != ModeKeys.INFER:
        loss = kind.loss(activations, labels, lengths, features)
    states = _states_of(final)
    if mode != ModeKeys.INFER:
        metrics = kind.metrics(predictions, labels, lengths)
    if mode == ModeKeys.TRAIN:
        train_op = optimize_loss(loss=loss, global_step=get_global_step(), **training)
    return ModelFnOps(
        mode, {**predictions, **states}, loss, train_op, metrics, kind.alternatives(predictions)
    )
