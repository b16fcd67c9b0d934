"""``SVM``: a linear model for two classes by the hinge loss, trained on its dual.

Each example has a dual variable, which is kept by the fingerprint of the example's name; the op
``SdcaOptimizer`` moves it and says by how much the weights move.  It works on weights of its own
("unshrinked"); those of the model are what the l1 part leaves of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from penstock.contrib.layers.columns.column import Features
from penstock.contrib.layers.columns.layers import weighted_sum_from_feature_columns
from penstock.contrib.learn.canned import Classes
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.model_fn import ModelFnOps
from penstock.contrib.learn.more_heads import binary_svm_head
from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.library.variables.global_step import get_global_step
from penstock.library.variables.scoping import variable_scope
from penstock.library.variables.variable import Variable
from penstock.ops.array import fill, reshape, shape as shaping
from penstock.ops.array.cast import cast
from penstock.ops.array.gather import gather
from penstock.ops.array.unique import unique
from penstock.ops.control import control
from penstock.ops.state import sdca, state_update
from penstock.ops.state.state_scatter import scatter_add
from penstock.training.data.lookup_mutable import MutableDenseHashTable


class SVM(Classes):
    """A linear support vector machine.

    Args:
      example_id_column: the feature with the names of examples, strings [batch].
      feature_columns: columns of ``tf.contrib.layers``.
      weight_column_name: the feature that weights examples.
      model_dir: directory of checkpoints and events.
      l1_regularization, l2_regularization: how much the norms of the weights cost; the algorithm
        needs an l2 of 1 or more, which is taken where there is less.
      num_loss_partitions: how many workers move the weights at once.
      kernels: refused: not supported.
      config: a ``RunConfig``.
      feature_engineering_fn: from features and labels to those of the model.

    Raises:
      ValueError: ``kernels`` are given.
    """

    def __init__(
        self, example_id_column: str, feature_columns: Iterable[Any],
        weight_column_name: str | None = None, model_dir: Any = None,
        l1_regularization: float = 0.0, l2_regularization: float = 0.0,
        num_loss_partitions: int = 1, kernels: Any = None, config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ) -> None:  # fmt: skip
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        columns, head = (
            tuple(feature_columns),
            binary_svm_head(weight_column_name=weight_column_name),
        )
        costs = (l1_regularization, max(l2_regularization, 1.0))

        def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
            values = list(features.values())
            with variable_scope("linear", values=values) as scope:
                logits, variables, bias = weighted_sum_from_feature_columns(
                    features, columns, head.logits_dimension, weight_collections=["linear"],
                    scope=scope,
                )  # fmt: skip

            def train_op(loss: Any) -> Any:
                examples = _Examples(features, columns, variables, bias, labels)
                names, weigh = features[example_id_column], features.get(weight_column_name)
                return _step(examples, names, weigh, costs, num_loss_partitions)

            made: ModelFnOps = head.create_model_fn_ops(features, mode, labels, train_op, logits)
            return made

        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)

    def predict(
        self, x: Any = None, input_fn: Any = None, batch_size: int | None = None,
        outputs: Any = None, as_iterable: bool = True, iterate_batches: bool = False,
    ) -> Any:  # fmt: skip
        """The predictions of each example by name, classes and logits."""
        return Estimator.predict(
            self, x, input_fn, batch_size, outputs, as_iterable, iterate_batches
        )

    def predict_proba(  # type: ignore[override]
        self, x: Any = None, input_fn: Any = None, batch_size: int | None = None,
        outputs: Any = None, as_iterable: bool = True,
    ) -> Any:  # fmt: skip
        """Refused as by TensorFlow 1.15: the distance from a margin is no probability.

        Raises:
          ValueError: always, as the predictions are read.
        """
        return super().predict_proba(x, input_fn, batch_size, as_iterable)


class _Examples:
    """A batch as the op takes it: groups of sparse and of dense features with their weights."""

    def __init__(
        self, features: Mapping[Any, Any], columns: Iterable[Any], variables: Mapping[Any, Any],
        bias: Any, labels: Any,
    ) -> None:  # fmt: skip
        self.labels = reshape.reshape(cast(labels, dtypes.float32), [-1])
        self.dense: list[tuple[Any, Any]] = []  # numbers and their variable
        self.sparse: list[tuple[Any, Any, Any, Any]] = []  # examples, ids, values, variable
        known = Features(features)
        for column in sorted(set(columns), key=lambda each: each.key):
            tensor, (variable,) = known.get(column), variables[column]
            lookup = column.linear_lookup(tensor)
            if lookup is None:
                numbers = column.dense_tensor(tensor)
                size = variable.shape.as_list()[0]
                self.dense.append((reshape.reshape(numbers, [-1, size]), variable))
                continue
            ids = lookup.ids
            values = None if lookup.weights is None else lookup.weights.values
            if values is None:
                values = fill.ones(shaping.shape(ids.values), dtypes.float32)
            examples = reshape.reshape(ids.indices[:, 0], [-1])
            self.sparse.append((examples, cast(ids.values, dtypes.int64), values, variable))
        ones = fill.ones([shaping.shape(self.labels)[0], 1], dtypes.float32)
        self.dense.append((ones, bias))

    @property
    def variables(self) -> list[Any]:
        return [group[-1] for group in [*self.sparse, *self.dense]]


def _step(
    examples: _Examples, names: Any, weigh: Any, costs: tuple[float, float], partitions: int
) -> Any:
    l1, l2 = costs
    keys = sdca.sdca_fprint(reshape.reshape(names, [-1]))
    with scopes.name_scope("ShardedMutableHashTable"):
        table = MutableDenseHashTable(
            dtypes.int64, dtypes.float32, [0.0] * 4, [0, 0], [1, 1],
            name="ShardedMutableHashTable-1-of-1",
        )  # fmt: skip
    own = [_unshrunk(variable) for variable in examples.variables]
    of_sparse, of_dense = own[: len(examples.sparse)], own[len(examples.sparse) :]
    weights = examples.labels * 0.0 + 1.0 if weigh is None else weigh
    distinct = [unique(group[1])[0] for group in examples.sparse]
    with scopes.name_scope("sdca"):
        states, of_ids, of_numbers = sdca.sdca_optimizer(
            [group[0] for group in examples.sparse], [group[1] for group in examples.sparse],
            [group[2] for group in examples.sparse], [group[0] for group in examples.dense],
            reshape.reshape(cast(weights, dtypes.float32), [-1]), examples.labels,
            distinct, [gather(reshape.reshape(w, [-1]), i) for w, i in zip(of_sparse, distinct)],
            [reshape.reshape(w, [-1, 1]) for w in of_dense], table.lookup(keys), "hinge_loss",
            l1, l2, num_loss_partitions=partitions, num_inner_iterations=1, adaptative=True,
        )  # fmt: skip
        moved = [table.insert(keys, states)]
        for variable, ids, delta in zip(of_sparse, distinct, of_ids, strict=True):
            moved.append(scatter_add(variable, ids, reshape.reshape(delta, [-1, 1])))
        for variable, delta in zip(of_dense, of_numbers, strict=True):
            by = reshape.reshape(delta, shaping.shape(variable))
            moved.append(state_update.assign_add(variable, by))
        with scopes.control_dependencies([control.group(*moved)]):
            counted = state_update.assign_add(get_global_step(), 1).op
    with scopes.control_dependencies([counted]):
        pairs = zip(examples.variables, own, strict=True)
        taken = [variable.assign(weight) for variable, weight in pairs]
    with scopes.control_dependencies(taken):
        if l1 > 0:
            return sdca.sdca_shrink_l1(examples.variables, l1, l2)
        return control.group(*taken)


def _unshrunk(variable: Any) -> Any:
    zeros = fill.zeros(variable.shape.as_list(), dtypes.float32)
    return Variable(zeros, name=f"{variable.op.name}_unshrinked/SDCAOptimizer")
