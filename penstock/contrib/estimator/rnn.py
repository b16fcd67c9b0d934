"""Estimators of recurrent networks: columns of sequences, a network, the logits of its last steps.

Names of nodes and variables are TensorFlow 1.15's, so that its checkpoints are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.contrib.estimator.extenders import clip_gradients_by_norm
from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.library.layers.basic import dense
from penstock.library.nn.losses import Reduction
from penstock.library.recurrent.basic import BasicRNNCell, GRUCell
from penstock.library.recurrent.cell import RNNCell
from penstock.library.recurrent.dynamic import dynamic_rnn
from penstock.library.recurrent.lstm import BasicLSTMCell
from penstock.library.recurrent.multi import MultiRNNCell
from penstock.library.variables.global_step import get_global_step
from penstock.library.variables.partition import min_max_variable_partitioner
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import gather, ranges, reshape, shape as shaping
from penstock.ops.array.cast import to_int64
from penstock.ops.array.onehot import sequence_mask
from penstock.storage.summary.build import histogram
from penstock.training.estimator.canned.heads import class_head
from penstock.training.estimator.canned.networks import check_features
from penstock.training.estimator.canned.optimizers import optimizer_of
from penstock.training.estimator.estimator import Estimator
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.heads.base import Head
from penstock.training.feature_column.input_layer import input_layer
from penstock.training.feature_column.sequence_input import sequence_input_layer, with_context
from penstock.training.train.optimizer import Optimizer

_RATE, _CLIP = 0.05, 5.0
_LARGE = 64 << 20
_CELLS: dict[Any, Any] = {"basic_rnn": BasicRNNCell, "lstm": BasicLSTMCell, "gru": GRUCell}


class UseDefault:
    """The default of ``cell_type``: "basic_rnn", unless ``rnn_cell_fn`` makes the cells."""

    def __repr__(self) -> str:
        return "USE_DEFAULT"


USE_DEFAULT = UseDefault()


class RNNEstimator(Estimator):
    """A recurrent network over columns of sequences, with a head that is given.

    Args:
      head: makes loss, metrics and predictions of logits.
      sequence_feature_columns: columns of dense sequences, such as ``sequence_numeric_column``.
      context_feature_columns: dense columns of what is known of an example as a whole; every step
        of its sequence has them.
      num_units: the sizes of the layers' cells.
      cell_type: of the layers: "basic_rnn" (the default), "lstm", "gru", or a class of cells that
        takes a size.
      rnn_cell_fn: ``f(mode)`` that makes the cell, in place of ``num_units`` and ``cell_type``.
      return_sequences: whether every step has logits instead of the last one of an example. It
        needs a head of sequences, which TensorFlow 1.15 has no public name for: it is refused.
      model_dir: directory of the model.
      optimizer: an optimizer; or a function that makes one, or "Adagrad", "Adam", "Ftrl",
        "RMSProp", "SGD", whose gradients are clipped to a global norm of 5.
      input_layer_partitioner: cuts the variables of columns.
      config: a ``RunConfig``.

    Raises:
      ValueError: ``rnn_cell_fn`` and what it stands for, or ``return_sequences``.
    """

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_units: Iterable[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Callable[[str], Any] | None = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        input_layer_partitioner: Any = None,
        config: Any = None,
    ) -> None:
        make_cell = _cell_maker(num_units, cell_type, rnn_cell_fn)
        if return_sequences:
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when `return_sequences` is set to"
                f" True. Found {type(head)}; no head of TensorFlow 1.15's public names is one"
            )
        made = _model_fn(
            head, sequence_feature_columns, context_feature_columns, make_cell, optimizer,
            input_layer_partitioner,
        )  # fmt: skip
        super().__init__(made, model_dir, config)


class RNNClassifier(Estimator):
    """A classifier of sequences by a recurrent network.

    The loss is the mean over a batch, unless ``loss_reduction`` says something else.

    Args:
      sequence_feature_columns, context_feature_columns, num_units, cell_type, rnn_cell_fn,
        model_dir, optimizer, input_layer_partitioner, config: as of ``RNNEstimator``.
      n_classes: how many classes there are.
      weight_column: key or ``numeric_column`` of the examples' weights.
      label_vocabulary: names of the classes, where labels are strings.
      loss_reduction: how the losses of a batch become one.

    Raises:
      ValueError: there are fewer than two classes, or as of ``RNNEstimator``.

    Example:
      >>> import penstock as tf, tempfile
      >>> word = tf.contrib.feature_column.sequence_categorical_column_with_identity("word", 9)
      >>> word = tf.feature_column.embedding_column(word, 2)
      >>> data = lambda: ({"word": tf.constant([[1, 2], [3, -1]])}, tf.constant([[0], [1]]))
      >>> made = tf.contrib.estimator.RNNClassifier(
      ...     [word], num_units=[4], cell_type="lstm", model_dir=tempfile.mkdtemp())
      >>> made.train(data, steps=1).get_variable_value("rnn/logits/dense/kernel").shape
      (4, 1)
    """

    def __init__(
        self,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_units: Iterable[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Callable[[str], Any] | None = None,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        loss_reduction: Any = Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Any = None,
        config: Any = None,
    ) -> None:
        make_cell = _cell_maker(num_units, cell_type, rnn_cell_fn)
        head = class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        made = _model_fn(
            head, sequence_feature_columns, context_feature_columns, make_cell, optimizer,
            input_layer_partitioner,
        )  # fmt: skip
        super().__init__(made, model_dir, config)


# ---- cells ---------------------------------------------------------------------------------------


def _cell_maker(num_units: Any, cell_type: Any, rnn_cell_fn: Any) -> Callable[[str], Any]:
    """The function that makes the network's cell for a mode."""
    if rnn_cell_fn is None:
        kind = "basic_rnn" if cell_type is USE_DEFAULT else cell_type
        return lambda mode: _stacked(num_units, kind)
    if num_units or cell_type is not USE_DEFAULT:
        raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")
    made: Callable[[str], Any] = rnn_cell_fn
    return made


def _stacked(num_units: Any, kind: Any) -> Any:
    cell = _CELLS.get(kind, kind)
    if not issubclass(cell, RNNCell):
        raise ValueError(
            f"Supported cell types are {list(_CELLS)}; got {kind}. Subclasses of"
            " tf.nn.rnn_cell.RNNCell are allowed, too"
        )
    cells = [cell(size) for size in num_units]
    return cells[0] if len(cells) == 1 else MultiRNNCell(cells)


# ---- the network ---------------------------------------------------------------------------------


def _model_fn(
    head: Any, sequence_columns: Any, context_columns: Any, make_cell: Callable[[str], Any],
    optimizer: Any, partitioner: Any,
) -> Callable[..., EstimatorSpec]:  # fmt: skip
    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        check_features(features)
        training = _trained_by(head, optimizer)
        servers = config.num_ps_replicas if config else 0
        cut = min_max_variable_partitioner(max_partitions=servers)
        with variable_scope("rnn", values=list(features.values()), partitioner=cut):
            columns_cut = partitioner or min_max_variable_partitioner(
                max_partitions=servers, min_slice_size=_LARGE
            )
            sequences, lengths = _inputs(features, sequence_columns, context_columns, columns_cut)
            outputs, _ = dynamic_rnn(
                make_cell(mode), sequences, sequence_length=lengths, dtype=dtypes.float32
            )
            last = _last_of(outputs, lengths)
            with variable_scope("logits", values=[last]):
                logits = dense(last, head.logits_dimension)
            sequence_mask(lengths)  # for heads of sequences; TensorFlow adds it for all
            spec: EstimatorSpec = head.create_estimator_spec(
                features, mode, logits, labels, **training
            )
            return spec

    return model_fn


def _trained_by(head: Any, given: Any) -> dict[str, Any]:
    """What a head is told of training; an optimizer that is made here clips gradients."""
    made = optimizer_of(given, _RATE)
    if not isinstance(given, Optimizer):
        made = clip_gradients_by_norm(made, _CLIP)
    if not isinstance(head, Head):
        return {"optimizer": made}

    def train_op_fn(loss: Any) -> Any:
        with scopes.name_scope("training/"):
            return made.minimize(loss, global_step=get_global_step())

    return {"train_op_fn": train_op_fn}


def _inputs(
    features: Any, sequence_columns: Any, context_columns: Any, partitioner: Any
) -> tuple[Any, Any]:
    with variable_scope(
        "sequence_input_layer", values=list(features.values()), partitioner=partitioner
    ):
        sequences, lengths = sequence_input_layer(features, sequence_columns)
        histogram("sequence_length", lengths)
        if context_columns:
            sequences = with_context(input_layer(features, context_columns), sequences)
        return sequences, lengths


def _last_of(outputs: Any, lengths: Any) -> Any:
    """The output of the last step of each example; [batch, steps, size] becomes [batch, size]."""
    with scopes.name_scope("select_last_activations", values=[outputs, lengths]):
        dims: Any = shaping.shape(outputs)
        batch, steps, size = dims[0], dims[1], dims[2]
        starts: Any = to_int64(ranges.range_(batch) * steps)
        places = starts + lengths - 1
        flat = reshape.reshape(outputs, [batch * steps, size])
        return gather.gather(flat, places)
