"""``tf.estimator.BoostedTreesEstimator`` and kin: gradient boosted decision trees.

Trees, checkpoints and predictions are those of TensorFlow 1.15, of logits with one dimension.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.formats.tree_messages import TreeEnsemble as TreeEnsembleMessage
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.library.nn.losses import Reduction
from penstock.storage.summary.build import scalar
from penstock.training.estimator.canned.heads import Head, RegressionHead, class_head
from penstock.training.estimator.canned.tree_growing import (
    PRUNING,
    Buckets,
    Growing,
    TreeOptions,
    names_of,
)
from penstock.training.estimator.canned.tree_state import TreeEnsemble
from penstock.training.estimator.estimator import Estimator
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.feature_column.column import Features
from penstock.training.feature_column.numeric import numeric_column
from penstock.training.monitored.hook import SessionRunHook

_SERIALIZED = "boosted_trees:0_serialized"


class _Begin(SessionRunHook):
    """Runs an op when a session begins."""

    def __init__(self, op: Any) -> None:
        self._op = op

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._op)


class _StopWhenGrown(SessionRunHook):
    """Stops when there are as many trees, or as many attempts at layers, as there may be."""

    def __init__(self, finished: Any, layers: Any, options: TreeOptions) -> None:
        self._asked = [finished, layers]
        self._trees = options.n_trees
        self._layers = 2 * options.n_trees * options.max_depth

    def after_run(self, run_context: Any, run_values: Any) -> None:
        finished, layers = run_context.session.run(self._asked)
        if finished >= self._trees or layers > self._layers:
            run_context.request_stop()


def _model_fn(
    head: Any,
    columns: Sequence[Any],
    options: TreeOptions,
    n_batches: Any,
    weight_column: Any,
    in_memory: bool,
) -> Callable[..., EstimatorSpec]:
    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        _check_pruning(options)
        with scopes.name_scope("boosted_trees") as scope:
            ensemble = TreeEnsemble(scope)
            buckets = Buckets(features, columns, options.quantile_sketch_epsilon)
            if mode != ModeKeys.TRAIN:
                logits = make(
                    "BoostedTreesPredict", ensemble.resource_handle, buckets.ids, logits_dimension=1
                )
                growing = None
            else:
                weights = _weights(features, weight_column)
                growing = Growing(ensemble, buckets, options, n_batches, weights, in_memory)
                logits = growing.logits
                begin, asked = growing.begin(), ensemble.get_states()
                for name, value in zip(
                    ("num_trees", "num_finalized_trees", "num_attempted_layers"), asked[1:4],
                    strict=True,
                ):  # fmt: skip
                    scalar(f"ensemble/{name}", value)
        given = {} if growing is None else {"train_op_fn": growing.train_op}
        spec: EstimatorSpec = head.create_estimator_spec(features, mode, logits, labels, **given)
        if growing is None:
            return spec
        hooks = (*spec.training_hooks, _StopWhenGrown(asked[2], asked[3], options))
        first = (*spec.training_chief_hooks, _Begin(begin))
        return spec._replace(training_hooks=hooks, training_chief_hooks=first)

    return model_fn


def _check_pruning(options: TreeOptions) -> None:
    if options.pruning_mode not in PRUNING:
        raise ValueError(
            f"pruning_mode mode must be one of: {', '.join(sorted(PRUNING))}; given:"
            f" {options.pruning_mode!r}"
        )
    if options.pruning_mode != "none" and options.tree_complexity <= 0:
        raise ValueError(
            f"For pruning, tree_complexity must be positive. Given: {options.tree_complexity}"
        )


def _weights(features: Any, column: Any) -> Any:
    if column is None:
        return None
    return Features(features).get(numeric_column(column) if isinstance(column, str) else column)


class _Trees(Estimator):
    """What the three estimators share."""

    def __init__(
        self, columns: Any, n_batches: Any, head: Head | Any, model_dir: Any, config: Any,
        weight_column: Any, options: TreeOptions, train_in_memory: bool = False,
    ) -> None:  # fmt: skip
        self._columns = tuple(columns)
        model = _model_fn(
            head, self._columns, options, 1 if train_in_memory else n_batches, weight_column,
            train_in_memory,
        )  # fmt: skip
        super().__init__(model, model_dir, config)

    def experimental_feature_importances(self, normalize: bool = False) -> dict[str, float]:
        """How much the splits by each column have gained, the most first.

        Args:
          normalize: whether the gains are divided by their sum.

        Returns:
          An ``OrderedDict`` from the columns' names to their gains.

        Raises:
          ValueError: nothing is trained yet.
          AssertionError: no tree has a split, or a gain is negative and cannot be normalized.
        """
        message = TreeEnsembleMessage()
        message.ParseFromString(self.get_variable_value(_SERIALIZED))
        names = names_of(self._columns)
        gains, splits = dict.fromkeys(names, 0.0), 0
        for tree, weight in zip(message.trees, message.tree_weights, strict=True):
            for node in tree.nodes:
                if node.WhichOneof("node") == "bucketized_split":
                    splits += 1
                    gains[names[node.bucketized_split.feature_id]] += node.metadata.gain * weight
        if not splits:
            raise AssertionError("Trees are all empty or contain only a root node.")
        if normalize:
            if min(gains.values()) < 0:
                raise AssertionError(
                    "feature_importances cannot be normalized, since some of them are negative;"
                    " try pruning"
                )
            whole = sum(gains.values())
            gains = {name: gain / whole for name, gain in gains.items()}
        return OrderedDict(sorted(gains.items(), key=lambda each: each[1], reverse=True))

    def experimental_predict_with_explanations(
        self, input_fn: Any, predict_keys: Any = None, hooks: Any = None,
        checkpoint_path: Any = None,
    ) -> Any:  # fmt: skip
        """Predictions and what each column adds to them; not here.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError(
            "experimental_predict_with_explanations is not here; predict() and"
            " experimental_feature_importances() are"
        )


class BoostedTreesEstimator(_Trees):
    """Boosted trees with a head that is given.

    Args:
      feature_columns: bucketized, indicator and numeric columns.
      n_batches_per_layer: how many batches a layer is grown of: those of an epoch.
      head: makes loss, metrics and predictions of logits: as of ``tf.contrib.estimator``, or of
        ``tf.estimator`` with another loss than a class's.
      model_dir: directory of the model.
      weight_column: key or ``numeric_column`` of the examples' weights.
      n_trees, max_depth: how many trees grow, of how many layers.
      learning_rate: what the values of leaves are multiplied with.
      l1_regularization, l2_regularization: of the values of leaves.
      tree_complexity: what a split costs.
      min_node_weight: the hessian that a node must have to be split.
      config: a ``RunConfig``.
      center_bias: whether the first thing found is what is best for all.
      pruning_mode: ``"none"``, ``"pre"`` or ``"post"``: which splits that lose are undone.
      quantile_sketch_epsilon: the bound on the error of the buckets of numbers.

    Raises:
      ValueError: an argument that is not allowed.
    """

    def __init__(
        self, feature_columns: Any, n_batches_per_layer: Any, head: Any, model_dir: Any = None,
        weight_column: Any = None, n_trees: int = 100, max_depth: int = 6,
        learning_rate: float = 0.1, l1_regularization: float = 0.0,
        l2_regularization: float = 0.0, tree_complexity: float = 0.0,
        min_node_weight: float = 0.0, config: Any = None, center_bias: bool = False,
        pruning_mode: str = "none", quantile_sketch_epsilon: float = 0.01,
    ) -> None:  # fmt: skip
        options = TreeOptions(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization,
            tree_complexity, min_node_weight, center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        super().__init__(
            feature_columns, n_batches_per_layer, head, model_dir, config, weight_column, options
        )


class BoostedTreesClassifier(_Trees):
    """Boosted trees that tell two classes apart.

    Args:
      n_classes: 2, the default.
      label_vocabulary: names of the classes, where labels are strings.
      train_in_memory: whether the first batch is kept in variables: all examples, of which each
        step grows a layer.
      feature_columns, n_batches_per_layer, model_dir, weight_column, n_trees, max_depth,
        learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
        config, center_bias, pruning_mode, quantile_sketch_epsilon: as of
        ``BoostedTreesEstimator``.

    Raises:
      ValueError: an argument that is not allowed, more classes say.

    Example:
      >>> import penstock as tf
      >>> data = lambda: tf.data.Dataset.from_tensors(
      ...     ({"x": [[0.0], [1.0], [2.0], [3.0]]}, [[0], [0], [1], [1]])).repeat(8)
      >>> x = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [1.5])
      >>> trees = tf.estimator.BoostedTreesClassifier([x], 1, n_trees=3, max_depth=1)
      >>> _ = trees.train(data)
      >>> float(trees.evaluate(data)["accuracy"])
      1.0
    """

    def __init__(
        self, feature_columns: Any, n_batches_per_layer: Any, model_dir: Any = None,
        n_classes: Any = 2, weight_column: Any = None, label_vocabulary: Any = None,
        n_trees: int = 100, max_depth: int = 6, learning_rate: float = 0.1,
        l1_regularization: float = 0.0, l2_regularization: float = 0.0,
        tree_complexity: float = 0.0, min_node_weight: float = 0.0, config: Any = None,
        center_bias: bool = False, pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01, train_in_memory: bool = False,
    ) -> None:  # fmt: skip
        if n_classes != 2:
            raise ValueError(
                "For now pruning is not supported with multi class, and trees of several logits are"
                f" not here: n_classes must be 2, given {n_classes}"
            )
        head = class_head(2, weight_column, label_vocabulary, Reduction.SUM_OVER_BATCH_SIZE)
        options = TreeOptions(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization,
            tree_complexity, min_node_weight, center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        super().__init__(
            feature_columns, n_batches_per_layer, head, model_dir, config, weight_column, options,
            train_in_memory,
        )  # fmt: skip


class BoostedTreesRegressor(_Trees):
    """Boosted trees that predict a number.

    Args:
      label_dimension: 1, the default.
      train_in_memory: whether the first batch is kept in variables: all examples, of which each
        step grows a layer.
      feature_columns, n_batches_per_layer, model_dir, weight_column, n_trees, max_depth,
        learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
        config, center_bias, pruning_mode, quantile_sketch_epsilon: as of
        ``BoostedTreesEstimator``.

    Raises:
      ValueError: an argument that is not allowed.
    """

    def __init__(
        self, feature_columns: Any, n_batches_per_layer: Any, model_dir: Any = None,
        label_dimension: Any = 1, weight_column: Any = None, n_trees: int = 100,
        max_depth: int = 6, learning_rate: float = 0.1, l1_regularization: float = 0.0,
        l2_regularization: float = 0.0, tree_complexity: float = 0.0,
        min_node_weight: float = 0.0, config: Any = None, center_bias: bool = False,
        pruning_mode: str = "none", quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:  # fmt: skip
        if label_dimension != 1:
            raise ValueError(
                "For now pruning is not supported with multi-dimensionregression, and trees of"
                f" several logits are not here: label_dimension must be 1, given {label_dimension}"
            )
        head = RegressionHead(
            weight_column=weight_column, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE
        )
        options = TreeOptions(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization,
            tree_complexity, min_node_weight, center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        super().__init__(
            feature_columns, n_batches_per_layer, head, model_dir, config, weight_column, options,
            train_in_memory,
        )  # fmt: skip
