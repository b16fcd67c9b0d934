"""Linear models by stochastic dual coordinate ascent: the op of a pass, and what is around it.

The op visits examples in an order drawn anew and gives what changes: the examples' states, and of
the weights a *delta* that the program adds to them (``sdca_pass``).  The l1 part of the
regularization is a soft threshold by ``l1 / l2`` on the weights wherever they are used, and
``SdcaShrinkL1`` applies it to the variables themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import farmhash
import numpy as np
import torch

from penstock.foundation.base.errors import invalid
from penstock.foundation.graph.build import make
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, no_outputs
from penstock.ops.state.sdca_losses import LOSSES
from penstock.ops.state.sdca_pass import DenseGroup, SparseGroup, Training, drawn, shrinkage
from penstock.ops.strings.string_elements import as_bytes

_NO_GRADIENT = "it updates an optimizer's state"


# ---- fingerprints --------------------------------------------------------------------------------


def _fprint(input: Any) -> torch.Tensor:
    halves = np.empty((len(input), 2), np.uint64)
    for row, text in zip(halves, input, strict=True):
        row[:] = farmhash.fingerprint128(as_bytes(text))
    # 0 and 1 are kept free, for tables that mark places by them.
    halves[:, 0] -= np.where(halves[:, 0] < 2, np.uint64(2), np.uint64(0))
    return torch.from_numpy(halves.view(np.int64))


def _fprint_shape(ctx: ShapeContext) -> Dims:
    dims = ctx["input"]
    if dims is not None and len(dims) != 1:
        raise ValueError(
            f"Shape must be rank 1 but is rank {len(dims)}: Input must be a vector, got shape"
            f" {list(dims)}"
        )
    return (None if dims is None else dims[0], 2)


define_op(
    "SdcaFprint",
    "input: string -> output: int64",
    shape=_fprint_shape,
    kernel=_fprint,
    on_host=True,
    no_gradient="a hash has none",
)


# ---- the l1 part ---------------------------------------------------------------------------------


def _shrink_l1(weights: Sequence[Any], l1: float, l2: float) -> None:
    threshold = float(shrinkage(l1, l2))
    for variable in weights:
        with variable.lock:
            value = variable.value
            value.copy_(value.sign() * (value.abs() - threshold).clamp_min_(0))


define_op(
    "SdcaShrinkL1",
    "weights: num_features * Ref(float) ->",
    attrs=["num_features: int >= 0", "l1: float", "l2: float"],
    shape=no_outputs,
    kernel=_shrink_l1,
    writes=("weights",),
    no_gradient=_NO_GRADIENT,
)


# ---- the op --------------------------------------------------------------------------------------


def _check(features: int, weights: np.ndarray, labels: np.ndarray, state: np.ndarray) -> None:
    if not features:
        raise invalid("Requires at least one feature to train.")
    if len(weights) > len(labels):
        raise invalid(
            f"Each example has a weight and a label; found {len(weights)} weights and"
            f" {len(labels)} labels"
        )
    if state.shape != (len(weights), 4):
        shape = ",".join(map(str, state.shape))
        raise invalid(f"Expected shape [{len(weights)},4] for example_state_data, got [{shape}]")


def _flat(tensors: Sequence[torch.Tensor]) -> list[np.ndarray]:
    return [tensor.numpy().ravel() for tensor in tensors]


def _optimize_v2(
    sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features,
    example_weights, example_labels, sparse_indices, sparse_weights, dense_weights,
    example_state_data, loss_type, adaptive, l1, l2, num_loss_partitions,
):  # fmt: skip
    [weights, labels] = _flat([example_weights, example_labels])
    state = example_state_data.numpy().copy()
    _check(len(sparse_weights) + len(dense_weights), weights, labels, state)
    values: list[Any] = _flat(sparse_feature_values)[: len(sparse_weights)]
    values += [None] * (len(sparse_weights) - len(values))
    of_groups = zip(
        _flat(sparse_example_indices), _flat(sparse_feature_indices), values,
        _flat(sparse_indices), _flat(sparse_weights), strict=True,
    )  # fmt: skip
    sparse = [SparseGroup(*given, len(weights)) for given in of_groups]
    of_dense = zip(dense_features, dense_weights, strict=True)
    dense = [DenseGroup(f.numpy(), w.numpy(), len(weights)) for f, w in of_dense]
    loss = LOSSES[as_bytes(loss_type).decode()]
    with np.errstate(all="ignore"):
        training = Training(
            [*sparse, *dense], weights, labels, state, loss, (l1, l2), num_loss_partitions
        )
        random = np.random.default_rng()
        adapted = drawn(training.importance(), random) if adaptive else None
        for example in random.permutation(len(weights)) if adapted is None else adapted:
            training.visit(int(example))
    shapes = [w.shape for w in sparse_weights]
    deltas = [g.delta.reshape(s) for g, s in zip(sparse, shapes, strict=True)]
    return (
        torch.from_numpy(state),
        [torch.from_numpy(delta) for delta in deltas],
        [torch.from_numpy(group.delta) for group in dense],
    )


def _optimize(
    sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features,
    example_weights, example_labels, sparse_indices, sparse_weights, dense_weights,
    example_state_data, loss_type, adaptative, l1, l2, num_loss_partitions,
):  # fmt: skip
    return _optimize_v2(
        sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features,
        example_weights, example_labels, sparse_indices, sparse_weights, dense_weights,
        example_state_data, loss_type, adaptative, l1, l2, num_loss_partitions,
    )  # fmt: skip


def _optimizer_shape(ctx: ShapeContext) -> list[Dims]:
    return [(None, 4), *ctx["sparse_weights"], *ctx["dense_weights"]]


for _name, _adaptive, _kernel in (
    ("SdcaOptimizer", "adaptative", _optimize),
    ("SdcaOptimizerV2", "adaptive", _optimize_v2),
):
    define_op(
        _name,
        "sparse_example_indices: num_sparse_features * int64,"
        " sparse_feature_indices: num_sparse_features * int64,"
        " sparse_feature_values: num_sparse_features_with_values * float,"
        " dense_features: num_dense_features * float, example_weights: float,"
        " example_labels: float, sparse_indices: num_sparse_features * int64,"
        " sparse_weights: num_sparse_features * float, dense_weights: num_dense_features * float,"
        " example_state_data: float -> out_example_state_data: float,"
        " out_delta_sparse_weights: num_sparse_features * float,"
        " out_delta_dense_weights: num_dense_features * float",
        attrs=[
            "loss_type: {'logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss',"
            " 'poisson_loss'}",
            f"{_adaptive}: bool = False",
            "num_sparse_features: int >= 0",
            "num_sparse_features_with_values: int >= 0",
            "num_dense_features: int >= 0",
            "l1: float",
            "l2: float",
            "num_loss_partitions: int >= 1",
            "num_inner_iterations: int >= 1",
        ],
        shape=_optimizer_shape,
        kernel=_kernel,
        random=True,
        no_gradient=_NO_GRADIENT,
    )


# ---- public functions ----------------------------------------------------------------------------


def _check_list(op: str, name: str, value: Any) -> None:
    if not isinstance(value, list | tuple):
        raise TypeError(f"Expected list for {name!r} argument to {op!r} Op, not {value!r}.")


def sdca_fprint(input: Any, name: str | None = None) -> Tensor:
    """Fingerprints of strings, of 128 bits, as names of examples.

    Args:
      input: string ``[n]``.

    Returns:
      int64 ``[n, 2]``: the lower half, which is never 0 or 1, and the upper one.

    Raises:
      ValueError: ``input`` is no vector.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.train.sdca_fprint(["a", ""])).tolist()
      [[7969074168056553668, 5955762262185338209], [4463240938071824939, 4374473821787594281]]

    Source: FarmHash's Fingerprint128.
    """
    return make("SdcaFprint", input, name=name)


def sdca_shrink_l1(weights: Any, l1: float, l2: float, name: str | None = None) -> Operation:
    """Moves weights towards 0 by ``l1 / l2``: what l1 regularization does to them.

    Args:
      weights: list of reference variables, float32, of any shapes.
      l1, l2: strengths of the regularization; ``l2`` is positive.

    Returns:
      The operation that does it.

    Raises:
      TypeError: ``weights`` is no list, or holds something else than reference variables.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     w = tf.Variable([1.0, -0.25, -2.0])
      ...     shrink = tf.train.sdca_shrink_l1([w], l1=0.5, l2=1.0)
      ...     sess.run(w.initializer)
      ...     sess.run(shrink)
      ...     sess.run(w).tolist()
      [0.5, -0.0, -1.5]

    Source: Shalev-Shwartz and Zhang, Proximal Stochastic Dual Coordinate Ascent.
    """
    _check_list("sdca_shrink_l1", "weights", weights)
    return make("SdcaShrinkL1", weights, l1=l1, l2=l2, name=name)


def sdca_optimizer(
    sparse_example_indices: Any, sparse_feature_indices: Any, sparse_feature_values: Any,
    dense_features: Any, example_weights: Any, example_labels: Any, sparse_indices: Any,
    sparse_weights: Any, dense_weights: Any, example_state_data: Any, loss_type: str, l1: float,
    l2: float, num_loss_partitions: int, num_inner_iterations: int, adaptative: bool | None = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """One pass of stochastic dual coordinate ascent over the examples of a linear model.

    What is minimized is the sum of the examples' losses plus ``l2 / 2 * |w|^2 + l1 * |w|``.  The
    examples are visited in a random order.  Nothing is written: the program keeps the
    states of the examples and adds the deltas to the weights.

    Args:
      sparse_example_indices: list, one a sparse group, of int64 ``[entries]``, in rising order:
        which example an entry belongs to.
      sparse_feature_indices: list of int64 ``[entries]``: which feature it is.
      sparse_feature_values: list of float32 ``[entries]``, for the first sparse groups; in those
        after them each value is 1.
      dense_features: list, one a dense group, of float32 ``[examples, features]``.
      example_weights, example_labels: float32 ``[examples]``.
      sparse_indices: list of int64 ``[k]``: the features that ``sparse_weights`` stand for.
      sparse_weights: list of float32 ``[k]``.
      dense_weights: list of float32 ``[features]``.
      example_state_data: float32 ``[examples, 4]``, zeros at first: dual variable, primal loss,
        dual loss, weight.
      loss_type: ``"logistic_loss"``, ``"hinge_loss"`` or ``"smooth_hinge_loss"`` with labels 0 and
        1, ``"squared_loss"``, or ``"poisson_loss"`` with labels that are not negative.
      l1, l2: strengths of the regularization.
      num_loss_partitions: how many tasks each hold a part of the examples.
      num_inner_iterations: 1 or more; a pass is one iteration whatever it says, as in TensorFlow.
      adaptative: whether examples of which more is to be gained are visited more often, and others
        perhaps not at all.

    Returns:
      A namedtuple: ``out_example_state_data``, ``out_delta_sparse_weights`` and
      ``out_delta_dense_weights``, lists of float32 of the weights' shapes.

    Raises:
      TypeError: what should be a list is none.
      ValueError: lists of different lengths, or an attr that is not allowed.
      tf.errors.InvalidArgumentError: when it runs: labels, indices or shapes that do not fit.

    Example:
      >>> import numpy as np
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     state, _, deltas = tf.train.sdca_optimizer(
      ...         [], [], [], [[[2.0]]], [1.0], [5.0], [], [], [[0.0]], np.zeros((1, 4)),
      ...         "squared_loss", l1=0.0, l2=1.0, num_loss_partitions=1, num_inner_iterations=1)
      ...     sess.run([state, deltas[0]])
      [array([[ 1. , 12.5, -0. ,  1. ]], dtype=float32), array([2.], dtype=float32)]

    Source: Shalev-Shwartz and Zhang, Proximal Stochastic Dual Coordinate Ascent; Csiba, Qu and
    Richtarik, Stochastic Dual Coordinate Ascent with Adaptive Probabilities.
    """
    lists = {
        "sparse_example_indices": sparse_example_indices,
        "sparse_feature_indices": sparse_feature_indices,
        "sparse_feature_values": sparse_feature_values,
        "dense_features": dense_features,
        "sparse_indices": sparse_indices,
        "sparse_weights": sparse_weights,
        "dense_weights": dense_weights,
    }
    for argument, value in lists.items():
        _check_list("sdca_optimizer", argument, value)
    first = "sparse_example_indices"
    for argument in ("sparse_feature_indices", "sparse_indices", "sparse_weights"):
        _check_length(argument, lists[argument], first, sparse_example_indices)
    _check_length("dense_weights", dense_weights, "dense_features", dense_features)
    return make(
        "SdcaOptimizer", sparse_example_indices, sparse_feature_indices, sparse_feature_values,
        dense_features, example_weights, example_labels, sparse_indices, sparse_weights,
        dense_weights, example_state_data, loss_type=loss_type, l1=l1, l2=l2,
        num_loss_partitions=num_loss_partitions, num_inner_iterations=num_inner_iterations,
        adaptative=True if adaptative is None else adaptative, name=name,
    )  # fmt: skip


def _check_length(argument: str, value: Any, first: str, other: Any) -> None:
    if len(value) != len(other):
        raise ValueError(
            f"List argument {argument!r} to 'sdca_optimizer' Op with length {len(value)} must match"
            f" length {len(other)} of argument {first!r}."
        )
