"""Whether the attrs of a ``NodeDef`` fit its op type.

An attr that the op type does not have is an error, with three exceptions: those that start with
``_``, which are remarks; those that a later TensorFlow added, where they leave the meaning as it
was; and those that the graph's own op list describes, where they have its default.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from penstock.graph.external import ATTR as _EXTERNAL
from penstock.opdef.opdef import OpDef
from penstock.opdef.signature import REQUIRED

# A remark on nodes: their float32 outputs may travel between tasks as 16 bits.
COMPRESS = "_compress"
# A remark on constants of a step: the memory that they are in.
MEMORY = "_memory"
# Attrs that TensorFlow 2.21 has and 1.15 has not: which do not change what is computed.
_HINTS = {
    "MatMul": ("grad_a", "grad_b"),
    "BatchMatMul": ("grad_x", "grad_y"),
    "BatchMatMulV2": ("grad_x", "grad_y"),
    "AssignVariableOp": ("validate_shape",),
    "VarHandleOp": ("allowed_devices", "debug_name"),
    "DatasetCardinality": ("cardinality_options",),
    "IgnoreErrorsDataset": ("log_warning",),
    "MapDataset": ("force_synchronous",),
    "ModelDataset": ("ram_budget",),
    "PrefetchDataset": ("buffer_size_min",),
    "RangeDataset": ("replicate_on_split",),
    "ScanDataset": ("use_default_device",),
    "SerializeIterator": ("external_state_policy",),
    "TensorSliceDataset": ("is_files", "replicate_on_split"),
}
_INT32 = AttrValue(type=3)
_FALSE = AttrValue(b=False)
_NO_TEXT = AttrValue(s=b"")
_NO_LIST = AttrValue(list=AttrValue.ListValue())
# And which do, unless they have their default.
_NEWER: dict[str, tuple[Any, tuple[str, ...]]] = {
    "multiply_linear_by_lr": (_FALSE, (
        "ApplyFtrl", "ApplyFtrlV2", "ResourceApplyFtrl", "ResourceApplyFtrlV2",
        "ResourceSparseApplyFtrl", "ResourceSparseApplyFtrlV2", "SparseApplyFtrl",
        "SparseApplyFtrlV2",
    )),
    "bad_indices_policy": (_NO_TEXT, (
        "GatherNd", "ResourceScatterNdAdd", "ResourceScatterNdSub", "ResourceScatterNdUpdate",
        "ScatterNd", "ScatterNdAdd", "ScatterNdNonAliasingAdd", "ScatterNdSub", "ScatterNdUpdate",
        "TensorScatterAdd", "TensorScatterSub", "TensorScatterUpdate",
    )),
    "explicit_paddings": (_NO_LIST, (
        "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropFilter",
        "DepthwiseConv2dNativeBackpropInput", "MaxPool", "MaxPoolGrad",
    )),
    "exponential_avg_factor": (AttrValue(f=1.0), (
        "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3",
    )),
    "Tsegmentids": (_INT32, (
        "SparseSegmentMean", "SparseSegmentMeanGrad", "SparseSegmentMeanWithNumSegments",
        "SparseSegmentSqrtN", "SparseSegmentSqrtNGrad", "SparseSegmentSqrtNWithNumSegments",
        "SparseSegmentSum", "SparseSegmentSumWithNumSegments",
    )),
    "sparse_gradient": (_FALSE, (
        "SparseSegmentMean", "SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtN",
        "SparseSegmentSqrtNWithNumSegments", "SparseSegmentSum", "SparseSegmentSumWithNumSegments",
    )),
    "Tk": (_INT32, ("TopKV2",)),
    "Tshape": (_INT32, ("TensorListGetItem",)),
    "index_type": (_INT32, ("TopKV2",)),
    "shape_type": (_INT32, ("ConcatOffset",)),
    "allow_missing_files": (_FALSE, ("MergeV2Checkpoints",)),
    "reshuffle_each_iteration": (AttrValue(b=True), ("ShuffleAndRepeatDataset",)),
    "stop_on_empty_dataset": (_FALSE, ("DirectedInterleaveDataset",)),
}  # fmt: skip
_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b"}


def check(node: Any, definition: OpDef, op_list: Any = None) -> set[str]:
    """Checks the attrs of a node against its op type.

    Args:
      node: the ``NodeDef``.
      definition: its op type.
      op_list: the ``OpList`` of the program that made the graph, or None.

    Returns:
      The names of the attrs to leave out: a later TensorFlow's, of no effect here.

    Raises:
      ValueError: an attr that the op type does not have, of another kind, or missing.
    """
    known = definition.attrs
    ignored = set()
    for key, value in node.attr.items():
        if key in known:
            _check_kind(node, key, known[key].kind, value)
        elif not key.startswith("_"):
            _check_unknown(node, key, value, sorted(known), op_list)
            ignored.add(key)
    for key, attr in known.items():
        if attr.default is REQUIRED and key not in node.attr and not _is_outside(node, key):
            raise ValueError(f"node {node.name!r} ({node.op}) lacks attr {key!r} ({attr.kind})")
    return ignored


def _is_outside(node: Any, key: str) -> bool:
    """Whether the attr is the value of a large constant, which lies in a file of its own."""
    return key == "value" and _EXTERNAL in node.attr


def _check_kind(node: Any, key: str, kind: str, value: Any) -> None:
    field = value.WhichOneof("value")
    wanted = "list" if kind.startswith("list(") else _FIELDS.get(kind, kind)
    if field not in (None, wanted, "placeholder"):
        raise ValueError(
            f"node {node.name!r} ({node.op}): attr {key!r} must be a {kind}; found {value}".strip()
        )


def _check_unknown(node: Any, key: str, value: Any, known: list[str], op_list: Any) -> None:
    if key in _HINTS.get(node.op, ()):
        return
    if key == "metadata" and node.op.endswith(("Dataset", "DatasetV2")):
        return
    default, ops = _NEWER.get(key, (None, ()))
    if node.op not in ops:
        default = _default_in(op_list, node.op, key)
    if default is None:
        raise ValueError(
            f"node {node.name!r} ({node.op}): no attr of {node.op} is called {key!r}; it has"
            f" {known}"
        )
    same = value.SerializeToString() in (b"", default.SerializeToString())
    if not same and not _has_no_effect(node, key):
        found, usual = (str(v).strip() or "nothing" for v in (value, default))
        raise ValueError(
            f"node {node.name!r} ({node.op}): attr {key!r} of a later version has {found}; only"
            f" its default, {usual}, means what {node.op} with {known} does"
        )


def _has_no_effect(node: Any, key: str) -> bool:
    """The factor of a batch normalization's averages counts in training alone."""
    training = node.attr["is_training"].b if "is_training" in node.attr else True
    return key == "exponential_avg_factor" and not training


def _default_in(op_list: Any, op_type: str, key: str) -> Any:
    rows: Iterable[Any] = op_list.op if op_list is not None else ()
    for row in rows:
        if row.name == op_type:
            for attr in row.attr:
                if attr.name == key and attr.HasField("default_value"):
                    return attr.default_value
    return None
