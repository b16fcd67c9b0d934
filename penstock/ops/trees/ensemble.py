"""The ensemble of boosted trees in the graph: made, grown, asked; saved as its message.

The state is a ``resources.tree_ensemble``.  What a node is given as serialized, or gives, is the
message ``TreeEnsemble`` of TensorFlow's boosted trees, so that checkpoints go both ways.  Logits
have one dimension, as those that TensorFlow 1.15's estimators train.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.engine.resources.tree_ensemble import Tree, TreeEnsemble, best_splits
from penstock.foundation.base import errors
from penstock.foundation.formats import tree_messages
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, no_outputs, scalar
from penstock.foundation.opdef.shared_state import SharedState

_NO_GRADIENT = "trees are not differentiable"
_F = np.float32


def _make_state(attrs: dict[str, Any], name: str) -> TreeEnsemble:
    return TreeEnsemble(attrs["shared_name"] or name)


define_op(
    "BoostedTreesEnsembleResourceHandleOp",
    "-> resource: resource",
    attrs=['container: string = ""', 'shared_name: string = ""'],
    shape=scalar,
    state=SharedState("tree ensemble", _make_state),
    stateful=True,
    no_gradient=_NO_GRADIENT,
)


# ---- messages ------------------------------------------------------------------------------------


def _of_bytes(state: TreeEnsemble, stamp: int, text: bytes) -> None:
    """Makes the ensemble what a message says.

    Raises:
      tf.errors.InvalidArgumentError: it is no such message, or has nodes of another kind.
    """
    message = tree_messages.TreeEnsemble()
    try:
        message.ParseFromString(text)
    except Exception as error:
        raise errors.invalid("Unable to parse tree ensemble proto.") from error
    trees = [_tree_of(each) for each in message.trees]
    for i, tree in enumerate(trees):
        tree.weight = _F(message.tree_weights[i])
        if i < len(message.tree_metadata):
            meta = message.tree_metadata[i]
            tree.layers, tree.finished = meta.num_layers_grown, meta.is_finalized
            tree.pruned = [
                (each.new_node_id, _F(each.logit_change[0] if each.logit_change else 0.0))
                for each in meta.post_pruned_nodes_meta
            ]
    growing = message.growing_metadata
    with state.lock:
        state.reset()
        state.trees, state.stamp, state.initialized = trees, stamp, True
        state.trees_attempted = growing.num_trees_attempted
        state.layers_attempted = growing.num_layers_attempted
        state.last_layer = (growing.last_layer_node_start, growing.last_layer_node_end)


def _tree_of(message: Any) -> Tree:
    tree = Tree()
    for node in message.nodes:
        kind = node.WhichOneof("node")
        if kind == "bucketized_split":
            split = node.bucketized_split
            i = tree.add(node.metadata.original_leaf.scalar)
            tree.feature[i], tree.threshold[i] = split.feature_id, split.threshold
            tree.left[i], tree.right[i] = split.left_id, split.right_id
        elif kind == "leaf" and node.leaf.WhichOneof("leaf") is None:
            i = tree.add(node.leaf.scalar)
        else:
            raise errors.UnimplementedError(
                None, None, f"Nodes of trees are leaves of one value and splits of buckets: {node}"
            )
        tree.gain[i] = _F(node.metadata.gain)
    return tree


def _bytes_of(state: TreeEnsemble) -> bytes:
    message = tree_messages.TreeEnsemble()
    for tree in state.trees:
        nodes = message.trees.add().nodes
        for i in range(len(tree)):
            _fill_node(nodes.add(), tree, i)
        message.tree_weights.append(float(tree.weight))
        meta = message.tree_metadata.add(num_layers_grown=tree.layers, is_finalized=tree.finished)
        for number, change in tree.pruned:
            meta.post_pruned_nodes_meta.add(new_node_id=number, logit_change=[float(change)])
    if state.layers_attempted:
        growing = message.growing_metadata
        growing.num_trees_attempted = state.trees_attempted
        growing.num_layers_attempted = state.layers_attempted
        growing.last_layer_node_start, growing.last_layer_node_end = state.last_layer
    return bytes(message.SerializeToString())


def _fill_node(node: Any, tree: Tree, i: int) -> None:
    if tree.feature[i] < 0:
        node.leaf.SetInParent()
        node.leaf.scalar = float(tree.value[i])
        return
    node.bucketized_split.SetInParent()
    split = node.bucketized_split
    split.feature_id, split.threshold = tree.feature[i], tree.threshold[i]
    split.left_id, split.right_id = tree.left[i], tree.right[i]
    node.metadata.SetInParent()
    node.metadata.gain = float(tree.gain[i])
    if i or tree.value[0] != 0:  # a root has a value of its own where the bias was centered
        node.metadata.original_leaf.scalar = float(tree.value[i])


def _text_of(value: Any) -> bytes:
    found = value.item() if isinstance(value, np.ndarray) else value
    return found if isinstance(found, bytes) else str(found).encode()


def _create(
    tree_ensemble_handle: TreeEnsemble, stamp_token: Any, tree_ensemble_serialized: Any
) -> None:
    if not tree_ensemble_handle.initialized:
        _of_bytes(tree_ensemble_handle, int(stamp_token), _text_of(tree_ensemble_serialized))


def _deserialize(
    tree_ensemble_handle: TreeEnsemble, stamp_token: Any, tree_ensemble_serialized: Any
) -> None:
    _of_bytes(tree_ensemble_handle, int(stamp_token), _text_of(tree_ensemble_serialized))


def _ready(state: TreeEnsemble) -> TreeEnsemble:
    if not state.initialized:
        raise errors.FailedPreconditionError(
            None, None, f"Tree ensemble {state.name} is not initialized; run its initializer"
        )
    return state


def _serialize(tree_ensemble_handle: TreeEnsemble) -> Any:
    state = _ready(tree_ensemble_handle)
    with state.lock:
        text = np.array(None, dtype=object)
        text[()] = _bytes_of(state)
        return torch.tensor(state.stamp), text


def _is_initialized(tree_ensemble_handle: TreeEnsemble) -> torch.Tensor:
    return torch.tensor(tree_ensemble_handle.initialized)


def _states(tree_ensemble_handle: TreeEnsemble) -> Any:
    state = _ready(tree_ensemble_handle)
    with state.lock:
        stamp, trees, finished, layers, last = state.states()
    numbers = (torch.tensor(each, dtype=torch.int32) for each in (trees, finished, layers, last))
    return torch.tensor(stamp), *numbers


_CHANGED = {"writes": ("tree_ensemble_handle",), "stateful": True, "no_gradient": _NO_GRADIENT}
_ASKED = {"reads": ("tree_ensemble_handle",), "stateful": True, "no_gradient": _NO_GRADIENT}

for _name, _kernel in (
    ("BoostedTreesCreateEnsemble", _create),
    ("BoostedTreesDeserializeEnsemble", _deserialize),
):
    define_op(
        _name,
        "tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string ->",
        shape=no_outputs,
        kernel=_kernel,
        effect=True,
        on_host=True,
        **_CHANGED,
    )
define_op(
    "IsBoostedTreesEnsembleInitialized",
    "tree_ensemble_handle: resource -> is_initialized: bool",
    shape=scalar,
    kernel=_is_initialized,
    on_host=True,
    **_ASKED,
)
define_op(
    "BoostedTreesSerializeEnsemble",
    "tree_ensemble_handle: resource -> stamp_token: int64, tree_ensemble_serialized: string",
    shape=lambda ctx: [(), ()],
    kernel=_serialize,
    on_host=True,
    **_ASKED,
)
define_op(
    "BoostedTreesGetEnsembleStates",
    "tree_ensemble_handle: resource -> stamp_token: int64, num_trees: int32,"
    " num_finalized_trees: int32, num_attempted_layers: int32, last_layer_nodes_range: int32",
    shape=lambda ctx: [(), (), (), (), (2,)],
    kernel=_states,
    on_host=True,
    **_ASKED,
)


# ---- growing -------------------------------------------------------------------------------------


def weight_and_gain(gradient: Any, hessian: Any, l1: Any, l2: Any) -> tuple[Any, Any]:
    """The value of a leaf that lowers the loss most, and by how much twice over.

    The minimum of ``(h + l2) / 2 * w ** 2 + g * w + l1 * abs(w)``.

    Args:
      gradient, hessian: sums over a leaf's examples.
      l1, l2: the regularization.
    """
    shrunk = gradient
    if l1 > 0:
        shrunk = np.sign(gradient) * np.maximum(np.abs(gradient) - _F(l1), _F(0))
    below = hessian + _F(l2)
    some = below > _F(1e-15)
    safe = np.where(some, below, _F(1))
    weight = np.where(some, -shrunk / safe, _F(0))
    gain = np.where(some, shrunk * shrunk / safe, _F(0))
    return weight.astype(np.float32), gain.astype(np.float32)


def _center(
    tree_ensemble_handle: TreeEnsemble, mean_gradients: Any, mean_hessians: Any, l1: Any, l2: Any
) -> torch.Tensor:
    gradient, hessian = (each.reshape(-1)[:1].numpy() for each in (mean_gradients, mean_hessians))
    logit, _ = weight_and_gain(gradient, hessian, float(l1), float(l2))
    state = _ready(tree_ensemble_handle)
    with state.lock:
        return torch.tensor(state.center(logit[0]))


def _update(
    tree_ensemble_handle: TreeEnsemble, feature_ids: Any, node_ids: Any, gains: Any,
    thresholds: Any, left_node_contribs: Any, right_node_contribs: Any, max_depth: Any,
    learning_rate: Any, pruning_mode: int, num_features: int,
) -> None:  # fmt: skip
    lists = (node_ids, gains, thresholds, left_node_contribs, right_node_contribs)
    found = [tuple(each.reshape(-1).numpy() for each in one) for one in zip(*lists, strict=True)]
    splits = best_splits(feature_ids.tolist(), found)
    state = _ready(tree_ensemble_handle)
    with state.lock:
        state.grow(splits, int(max_depth), float(learning_rate), pruning_mode)


define_op(
    "BoostedTreesCenterBias",
    "tree_ensemble_handle: resource, mean_gradients: float, mean_hessians: float, l1: float,"
    " l2: float -> continue_centering: bool",
    shape=scalar,
    kernel=_center,
    on_host=True,
    **_CHANGED,
)
define_op(
    "BoostedTreesUpdateEnsemble",
    "tree_ensemble_handle: resource, feature_ids: int32, node_ids: num_features * int32,"
    " gains: num_features * float, thresholds: num_features * int32,"
    " left_node_contribs: num_features * float, right_node_contribs: num_features * float,"
    " max_depth: int32, learning_rate: float ->",
    attrs=["pruning_mode: int >= 0", "num_features: int >= 0"],
    shape=no_outputs,
    kernel=_update,
    effect=True,
    on_host=True,
    **_CHANGED,
)


# ---- predicting ----------------------------------------------------------------------------------


def _buckets(features: Any, logits_dimension: int) -> Any:
    if logits_dimension != 1:
        raise errors.UnimplementedError(
            None, None, f"logits_dimension must be 1, as 1.15's trees have it: {logits_dimension}"
        )
    return np.stack([each.reshape(-1).numpy() for each in features])


def _predict(
    tree_ensemble_handle: TreeEnsemble, bucketized_features: Any, num_bucketized_features: int,
    logits_dimension: int,
) -> torch.Tensor:  # fmt: skip
    state, features = _ready(tree_ensemble_handle), _buckets(bucketized_features, logits_dimension)
    with state.lock:
        return torch.from_numpy(state.predict(features))


def _training_predict(
    tree_ensemble_handle: TreeEnsemble, cached_tree_ids: Any, cached_node_ids: Any,
    bucketized_features: Any, num_bucketized_features: int, logits_dimension: int,
) -> Any:  # fmt: skip
    state, features = _ready(tree_ensemble_handle), _buckets(bucketized_features, logits_dimension)
    with state.lock:
        change, trees, nodes = state.predict_from(
            cached_tree_ids.numpy(), cached_node_ids.numpy(), features
        )
    places = (torch.from_numpy(each.astype(np.int32)) for each in (trees, nodes))
    return torch.from_numpy(change), *places


def _batch(ctx: ShapeContext) -> int | None:
    """The size of the batch, by the first feature whose is known."""
    sizes = [dims[0] for dims in ctx["bucketized_features"] if dims]
    return next((each for each in sizes if each is not None), None)


_FEATURES = ["num_bucketized_features: int >= 1", "logits_dimension: int"]
define_op(
    "BoostedTreesPredict",
    "tree_ensemble_handle: resource, bucketized_features: num_bucketized_features * int32"
    " -> logits: float",
    attrs=_FEATURES,
    shape=lambda ctx: (_batch(ctx), ctx.attr("logits_dimension")),
    kernel=_predict,
    on_host=True,
    **_ASKED,
)
define_op(
    "BoostedTreesTrainingPredict",
    "tree_ensemble_handle: resource, cached_tree_ids: int32, cached_node_ids: int32,"
    " bucketized_features: num_bucketized_features * int32"
    " -> partial_logits: float, tree_ids: int32, node_ids: int32",
    attrs=_FEATURES,
    shape=lambda ctx: [(_batch(ctx), ctx.attr("logits_dimension")), (_batch(ctx),), (_batch(ctx),)],
    kernel=_training_predict,
    on_host=True,
    **_ASKED,
)
