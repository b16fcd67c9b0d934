"""What is known of an op type stands with its definition: elsewhere nobody asks for its name.

Rooms outside ``ops`` ask the record (``op.op_def.control``, ``role``, ``moves`` and so on), not
whether ``op.type`` is one of a list.  To make a node, its type is named: that is no question.
Rewrite rules are about particular mathematics, and name it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

import pytest

import penstock.compiler.passes.pipeline  # defines the op types of steps
from penstock.foundation.opdef.registry import OPS, all_ops
from tests.architecture import modules

# The room of definitions, and the rewrite rules.
FREE = (
    "penstock.ops.",
    *(f"penstock.compiler.passes.{rules}" for rules in (
        "algebra", "blocking", "fold", "fuse", "gather_products", "logistic", "lookup_sums",
        "refine", "simplify", "stacks",
    )),
    # What an op is in another language, or becomes on the way there.
    *(f"penstock.storage.interchange.{rules}" for rules in (
        "compressing", "graph_transforms", "inference", "onnx_", "torch_reader",
    )),
)  # fmt: skip

_ABOUT_FILES = "looks at messages before any definition is loaded, so without torch"
_THEIRS = "a list that TensorFlow's function goes by, with types that Penstock does not have"
_MADE = "names what it makes"
_NO_TYPE = "not op types, but words that are spelled alike"
# Modules that name op types all the same, which, and why.  To become fewer.
NAMED = {
    "library.autodiff.custom": ({"IdentityN"}, "the type whose gradient it overrides"),
    "storage.checkpoint.snapshot": ({"RestoreV2", "SaveSlices", "SaveV2"},
                                     "the nodes that savers of this Penstock make"),
    "cli.graph_report": (
        {"Assert", "Assign", "AudioSummary", "FIFOQueueV2", "HistogramSummary", "ImageSummary",
         "NoOp", "Print", "Restore", "RestoreV2", "Save", "SaveSlices", "SaveV2", "ScalarSummary",
         "StopGradient", "TemporaryVariable", "TensorSummary", "TensorSummaryV2"},
        "guesses what a reader of a foreign graph would fetch",
    ),
    "training.keras_models.image_batches": ({"Iterator"}, "a class of the package has the name"),
    "training.data.dataset": (
        {"Assert", "DatasetToSingleElement", "MatchingFiles", "PyFunc", "ReduceDataset"}, _THEIRS,
    ),
    "training.data.sparse_queues": ({"AddManySparseToTensorsMap", "AddSparseToTensorsMap"},
                                    "its error lists them"),
    "foundation.graph.large_constants": ({"Const"}, _ABOUT_FILES),
    "storage.interchange.sources": ({"TensorArray"}, _NO_TYPE),
    "storage.export.frozen": ({"ResourceGather"}, "a rewrite: it becomes a GatherV2"),
    "storage.export.meta_graph": ({"Restore", "RestoreSlice", "RestoreV2", "Save", "SaveV2"},
                                   _THEIRS),
    "storage.export.sub_graph": (
        {"Assign", "AssignAdd", "AssignSub", "Cast", "CheckNumerics", "Const", "DynamicStitch",
         "Identity", "ParallelDynamicStitch", "ScatterAdd", "ScatterSub", "ScatterUpdate",
         "TruncatedNormal", "Variable", "VariableV2"}, _THEIRS,
    ),
    "compat.v2_own": ({"Variable"}, _NO_TYPE),
    "foundation.formats.tfprof_messages": ({"Shape"}, _NO_TYPE),
    "foundation.graph.graphdef": ({"Placeholder"}, "the type whose old graphs meant another shape"),
    "foundation.graph.op_functions": (
        {"All", "Any", "EuclideanNorm", "ExpandDims", "Max", "Mean", "Min", "Prod", "Select",
         "Split", "SplitV", "Squeeze", "Sum", "Where"},
        "arguments that TensorFlow's functions call by another name than the ops",
    ),
    "foundation.graph.region": ({"_If", "_While"}, "defines them"),
    "library.layer_base.initializers": (
        {"Identity", "RandomUniform", "TruncatedNormal"}, _NO_TYPE
    ),
    "api.keras.metrics": ({"Mean", "Sum"}, _NO_TYPE),
    "contrib.layers.divisive_normalization": (
        {"Maximum"}, "the type whose gradient it overrides"
    ),
    "contrib.layers.summaries": ({"Relu", "Relu6", "Softplus"}, "what these count"),
    "contrib.quantize.folding": (
        {"Conv2D", "DepthwiseConv2dNative", "MatMul", "Mul", "Reshape", "Sub"},
        "a rewrite: the layers that a normalization is folded into",
    ),
    "contrib.quantize.inserting": (
        {"BatchToSpaceND", "Identity", "MaxPool", "Merge", "Mul", "Relu", "Relu6", "Reshape",
         "SpaceToBatchND"},
        "a rewrite: what hands quantized values on",
    ),
    "contrib.quantize.matching": (
        {"Add", "AddV2", "BatchToSpaceND", "BiasAdd", "Conv2D", "DepthwiseConv2dNative",
         "Identity", "MatMul", "Mul", "ReadVariableOp", "Relu", "Relu6", "Reshape",
         "VarHandleOp", "Variable", "VariableV2"},
        "a rewrite: the layers whose values are quantized",
    ),
    "contrib.slim.nets.inception_parts": ({"AvgPool", "MaxPool"}, _NO_TYPE),
    "contrib.framework.graphs": ({"Placeholder"}, "a function of TensorFlow's that asks for these"),
    "library.nn.pooling": ({"MaxPool"}, _MADE),
    "compiler.passes.branches": ({"Equal"}, "a rule: of a test of which input a Merge took"),
    "tools.profiler.advisor": (
        {"Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput"}, "advice about these",
    ),
    "engine.resources.collective": ({"Add", "Max", "Min", "Mul"}, _NO_TYPE),
    "storage.summary.build": ({"TensorSummary"}, _THEIRS),
    "tools.testing.graphs": ({"HashTable", "HashTableV2"}, _THEIRS),
    "training.estimator.calling": (
        {"Iterator", "IteratorV2", "OneShotIterator"}, "TensorFlow warns of functions without them"
    ),
    "training.monitored.input_checkpoints": (
        {"Iterator", "IteratorV2", "OneShotIterator"}, "what it saves"
    ),
    "training.train.device_setter": (
        {"BoostedTreesEnsembleResourceHandleOp", "BoostedTreesQuantileStreamResourceHandleOp",
         "ResourceConditionalAccumulator",
         "MutableDenseHashTable", "MutableDenseHashTableV2", "MutableHashTable",
         "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2",
         "MutableHashTableV2", "VarHandleOp", "Variable", "VariableV2"}, _THEIRS,
    ),
    "library.variables.slices": ({"StridedSlice"}, "what it has just made, where it made a node"),
    "library.variables.value_methods": (
        {"ScatterAdd", "ScatterDiv", "ScatterMax", "ScatterMin", "ScatterMul", "ScatterNdAdd",
         "ScatterNdSub", "ScatterNdUpdate", "ScatterSub", "ScatterUpdate"}, _MADE,
    ),
}  # fmt: skip


def _asked(tree: ast.Module) -> Iterator[str]:
    """The strings that something is compared with, looked for among, or looked up by."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield from _strings([node.left, *node.comparators])
        elif isinstance(node, ast.Tuple | ast.Set | ast.List):
            yield from _strings(node.elts)
        elif isinstance(node, ast.Dict):
            yield from _strings(key for key in node.keys if key is not None)
        elif isinstance(node, ast.MatchValue):
            yield from _strings([node.value])
        elif isinstance(node, ast.Attribute) and node.attr == "split":
            yield from (word for text in _strings([node.value]) for word in text.split())


def _strings(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def _op_types() -> frozenset[str]:
    assert penstock.compiler.passes.pipeline
    all_ops()
    return frozenset(OPS)


def test_op_types_are_asked_of_their_records() -> None:
    found = {
        name: {text for text in _asked(modules.tree(name)) if text in _op_types()}
        for name in modules.files()
        if not name.startswith(FREE)
    }
    named = {f"penstock.{name}": types for name, (types, _) in NAMED.items()}
    assert {name: types for name, types in found.items() if types} == named


@pytest.mark.parametrize(
    "source",
    [
        'op.type == "Sum"',
        'op.type in ("Sum", "Mean")',
        'KINDS = frozenset({"Sum"})',
        'RULES = {"Sum": 1}',
        'KINDS = "Add Sum".split()',
        'match op.type:\n    case "Sum":\n        pass',
    ],
)
def test_a_question_is_found(source: str) -> None:
    assert "Sum" in set(_asked(ast.parse(source)))


def test_making_a_node_is_no_question() -> None:
    assert not list(_asked(ast.parse('make("Sum", x, name="Sum")')))
