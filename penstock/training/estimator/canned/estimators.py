"""Canned estimators: ``tf.estimator.DNNClassifier`` and kin.

The loss is the sum over a batch, unless ``loss_reduction`` says something else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.library.nn.losses import Reduction
from penstock.ops.nn.activation import relu
from penstock.training.estimator.canned import model_functions
from penstock.training.estimator.canned.heads import RegressionHead, class_head
from penstock.training.estimator.estimator import Estimator


def _number_head(label_dimension: int, weight_column: Any, loss_reduction: Any) -> RegressionHead:
    return RegressionHead(
        label_dimension, weight_column=weight_column, loss_reduction=loss_reduction
    )


# ---- deep ----------------------------------------------------------------------------------------


class DNNEstimator(Estimator):
    """Dense layers over columns, with a head that is given.

    Args:
      head: makes loss, metrics and predictions of logits.
      hidden_units: the sizes of the hidden layers.
      feature_columns: dense columns.
      model_dir: directory of the model.
      optimizer: an optimizer, a function that makes one, or "Adagrad", "Adam", "Ftrl", "RMSProp",
        "SGD".
      activation_fn: of the hidden layers.
      dropout: what part of a hidden layer's outputs is dropped as it is trained.
      input_layer_partitioner: cuts the variables of columns.
      config: a ``RunConfig``.
      warm_start_from: as of ``Estimator``.
      batch_norm: whether hidden layers are followed by batch normalization.
    """

    def __init__(
        self,
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        made = model_functions.deep(
            head, hidden_units, feature_columns, optimizer, activation_fn, dropout,
            input_layer_partitioner, batch_norm,
        )  # fmt: skip
        super().__init__(made, model_dir, config, warm_start_from=warm_start_from)


class DNNClassifier(Estimator):
    """A classifier of dense layers over columns.

    Args:
      hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
        input_layer_partitioner, config, warm_start_from, batch_norm: as of ``DNNEstimator``.
      n_classes: how many classes there are.
      weight_column: key or ``numeric_column`` of the examples' weights.
      label_vocabulary: names of the classes, where labels are strings.
      loss_reduction: how the losses of a batch become one.

    Raises:
      ValueError: there are fewer than two classes, or an argument is not allowed.

    Example:
      >>> import penstock as tf, tempfile
      >>> x = tf.feature_column.numeric_column("x")
      >>> data = lambda: tf.data.Dataset.from_tensors(({"x": [[0.0], [9.0]]}, [0, 1])).repeat()
      >>> made = tf.estimator.DNNClassifier([4], [x], tempfile.mkdtemp()).train(data, steps=2)
      >>> sorted(made.evaluate(data, steps=1))[:3]
      ['accuracy', 'accuracy_baseline', 'auc']
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        made = model_functions.deep(
            class_head(n_classes, weight_column, label_vocabulary, loss_reduction), hidden_units,
            feature_columns, optimizer, activation_fn, dropout, input_layer_partitioner, batch_norm,
        )  # fmt: skip
        super().__init__(made, model_dir, config, warm_start_from=warm_start_from)


class DNNRegressor(Estimator):
    """A regressor of dense layers over columns.

    Args:
      hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
        input_layer_partitioner, config, warm_start_from, batch_norm: as of ``DNNEstimator``.
      label_dimension: how many numbers an example has.
      weight_column: key or ``numeric_column`` of the examples' weights.
      loss_reduction: how the losses of a batch become one.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        made = model_functions.deep(
            _number_head(label_dimension, weight_column, loss_reduction), hidden_units,
            feature_columns, optimizer, activation_fn, dropout, input_layer_partitioner, batch_norm,
        )  # fmt: skip
        super().__init__(made, model_dir, config, warm_start_from=warm_start_from)


# ---- linear --------------------------------------------------------------------------------------


class LinearEstimator(Estimator):
    """A linear model over columns, with a head that is given.

    Args:
      head: makes loss, metrics and predictions of logits.
      feature_columns: columns, also of categories.
      model_dir: directory of the model.
      optimizer: as of ``DNNEstimator``.
      config: a ``RunConfig``.
      partitioner: cuts the variables.
      sparse_combiner: how the weights of an example's categories are combined.
    """

    def __init__(
        self,
        head: Any,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        sparse_combiner: str = "sum",
    ) -> None:
        made = model_functions.linear(
            head, feature_columns, optimizer, partitioner, sparse_combiner
        )
        super().__init__(made, model_dir, config)


class LinearClassifier(Estimator):
    """A linear classifier over columns.

    Args:
      feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner: as of
        ``LinearEstimator``.
      n_classes, weight_column, label_vocabulary, loss_reduction: as of ``DNNClassifier``.
      warm_start_from: as of ``Estimator``.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        made = model_functions.linear(
            class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            feature_columns, optimizer, partitioner, sparse_combiner,
        )  # fmt: skip
        super().__init__(made, model_dir, config, warm_start_from=warm_start_from)


class LinearRegressor(Estimator):
    """A linear regressor over columns.

    Args:
      feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner: as of
        ``LinearEstimator``.
      label_dimension, weight_column, loss_reduction: as of ``DNNRegressor``.
      warm_start_from: as of ``Estimator``.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        made = model_functions.linear(
            _number_head(label_dimension, weight_column, loss_reduction), feature_columns,
            optimizer, partitioner, sparse_combiner,
        )  # fmt: skip
        super().__init__(made, model_dir, config, warm_start_from=warm_start_from)


# ---- both ----------------------------------------------------------------------------------------


class DNNLinearCombinedEstimator(Estimator):
    """A linear and a deep model that are trained together, with a head that is given.

    Args:
      head: makes loss, metrics and predictions of logits.
      model_dir: directory of the model.
      linear_feature_columns, linear_optimizer: of the linear model.
      dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout: of the
        deep model.
      input_layer_partitioner: cuts the variables of columns.
      config: a ``RunConfig``.
      linear_sparse_combiner: how the weights of an example's categories are combined.

    Raises:
      ValueError: neither has columns, or the deep model has no layers.
    """

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        made = model_functions.combined(
            head, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
            dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner,
            linear_sparse_combiner,
        )  # fmt: skip
        super().__init__(made, model_dir, config)


class DNNLinearCombinedClassifier(Estimator):
    """A classifier of a linear and a deep model: "wide and deep".

    Args:
      model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
        dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner, config,
        linear_sparse_combiner: as of ``DNNLinearCombinedEstimator``.
      n_classes, weight_column, label_vocabulary, loss_reduction, batch_norm: as of
        ``DNNClassifier``.
      warm_start_from: as of ``Estimator``.
    """

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        made = model_functions.combined(
            class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
            dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner,
            linear_sparse_combiner, batch_norm,
        )  # fmt: skip
        super().__init__(made, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedRegressor(Estimator):
    """A regressor of a linear and a deep model: "wide and deep".

    Args:
      model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
        dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner, config,
        linear_sparse_combiner: as of ``DNNLinearCombinedEstimator``.
      label_dimension, weight_column, loss_reduction, batch_norm: as of ``DNNRegressor``.
      warm_start_from: as of ``Estimator``.
    """

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        made = model_functions.combined(
            _number_head(label_dimension, weight_column, loss_reduction),
            linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
            dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner,
            linear_sparse_combiner, batch_norm,
        )  # fmt: skip
        super().__init__(made, model_dir, config, warm_start_from=warm_start_from)


# ---- baselines -----------------------------------------------------------------------------------


class BaselineEstimator(Estimator):
    """A model that knows the labels' mean and no feature, with a head that is given.

    Args:
      head: makes loss, metrics and predictions of logits.
      model_dir: directory of the model.
      optimizer: as of ``DNNEstimator``.
      config: a ``RunConfig``.
    """

    def __init__(
        self, head: Any, model_dir: Any = None, optimizer: Any = "Ftrl", config: Any = None
    ) -> None:
        super().__init__(model_functions.baseline(head, optimizer, None), model_dir, config)


class BaselineClassifier(Estimator):
    """A classifier that knows how frequent classes are, and no feature.

    Args:
      model_dir, optimizer, config: as of ``BaselineEstimator``.
      n_classes, weight_column, label_vocabulary, loss_reduction: as of ``DNNClassifier``.
    """

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: Any = Reduction.SUM,
    ) -> None:
        head = class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        made = model_functions.baseline(head, optimizer, weight_column)
        super().__init__(made, model_dir, config)


class BaselineRegressor(Estimator):
    """A regressor that knows the labels' mean, and no feature.

    Args:
      model_dir, optimizer, config: as of ``BaselineEstimator``.
      label_dimension, weight_column, loss_reduction: as of ``DNNRegressor``.
    """

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: Any = Reduction.SUM,
    ) -> None:
        head = _number_head(label_dimension, weight_column, loss_reduction)
        # The weights count as a feature here, of which the batch is taken; as in TensorFlow.
        made = model_functions.baseline(head, optimizer, None)
        super().__init__(made, model_dir, config)
