"""Edges of every family: no elements, one element, rank 0, negative axes, broadcast of both sides.

The families' own rows are about values; these are about shapes.
"""

import numpy as np

from tests.ops.opcase import OpCase, bools, const, feed, ints, real, spd, strings, wellcond

_NO_AXES = const(np.zeros(0), "int32")
_EMPTY_INDEX = feed(np.zeros(0), "int32")

# Op types of one floating operand, on values that all of them allow.
_UNARY = (
    "Abs Neg Sign Exp Expm1 Log Log1p Sqrt Rsqrt Square Reciprocal Inv Sin Cos Tan Asin Acos Atan"
    " Sinh Cosh Tanh Asinh Atanh Sigmoid Erf Erfc Lgamma Digamma Floor Ceil Rint Round IsNan IsInf"
    " IsFinite Relu Relu6 LeakyRelu Elu Selu Softplus Softsign L2Loss OnesLike ZerosLike Identity"
    " StopGradient Shape Size Rank"
).split()
# Op types of two floating operands that broadcast.
_BROADCAST = (
    "Add AddV2 Sub Mul Div RealDiv FloorDiv FloorMod Mod TruncateMod Pow Maximum Minimum"
    " SquaredDifference DivNoNan MulNoNan Xdivy Xlogy Atan2 Igamma Igammac Zeta Less"
    " LessEqual Greater GreaterEqual Equal NotEqual"
).split()
# Op types of two operands of one shape.
_ALIKE = (
    "ReluGrad Relu6Grad LeakyReluGrad EluGrad SeluGrad SoftplusGrad SoftsignGrad TanhGrad"
    " SigmoidGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad ApproximateEqual"
).split()
_INTEGER = "BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift TruncateDiv FloorDiv".split()
_STEP = {
    "grad": False,
    "grad_reason": "the values may lie on a step or a kink; the families' rows check gradients",
}
_REDUCE = ("Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm")
_POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
_CONV = {"strides": [1, 1, 1, 1], "padding": "SAME"}


def _values(*shape):
    return real(*shape, lo=0.15, hi=0.85)


def _elementwise():
    for op in _UNARY:
        yield OpCase(op, [_values()], **_STEP)
        yield OpCase(op, [_values(0, 3)], **_STEP)
        yield OpCase(op, [_values(1, 1, 2, 1, 2)], **_STEP)
    for op in _BROADCAST:
        lo = {"Zeta": 1.2}.get(op, 0.15)
        for left, right in (((), ()), ((2, 1, 3), (4, 1)), ((0, 3), (3,)), ((2, 0), (2, 1))):
            yield OpCase(op, [real(*left, lo=lo, hi=2), real(*right, lo=0.15, hi=2)], **_STEP)
    for op in _ALIKE:
        yield OpCase(op, [_values(), _values()], **_STEP)
        yield OpCase(op, [_values(0, 2), _values(0, 2)], **_STEP)
    for op in _INTEGER:
        for left, right in (((), ()), ((2, 1), (3,)), ((0, 3), (3,))):
            yield OpCase(op, [ints(*left, lo=1), ints(*right, lo=1)])
    for op in ("LogicalAnd", "LogicalOr"):
        for left, right in (((), ()), ((2, 1), (3,)), ((0, 3), (3,))):
            yield OpCase(op, [bools(*left), bools(*right)])
    yield OpCase("LogicalNot", [bools()])
    yield OpCase("LogicalNot", [bools(0, 2)])
    yield OpCase("Invert", [ints()])
    yield OpCase("PopulationCount", [ints(0, 2)])


def _reductions():
    for op in _REDUCE:
        for keep in (False, True):
            yield OpCase(op, [_values(2, 3, 2), const(-1)], {"keep_dims": keep})
            yield OpCase(op, [_values(2, 3, 2), const([-3, 1])], {"keep_dims": keep})
        yield OpCase(op, [_values(), _NO_AXES])
        yield OpCase(op, [_values(3, 0), const(0)], **_STEP)
        yield OpCase(op, [_values(3, 1, 2), const([0, 1, 2], "int64")], {"keep_dims": True})
        yield OpCase(op, [_values(3, 4), const(-3)], raises=True)
    for op in ("Sum", "Mean", "Max", "Min", "Prod"):
        yield OpCase(op, [real(3, 0), const(1)], **_STEP)
    for op in ("All", "Any"):
        yield OpCase(op, [bools(3, 0), const(1)])
        yield OpCase(op, [bools(2, 3, 2), const([-1, 0], "int64")], {"keep_dims": True})
    for op in ("ArgMax", "ArgMin"):
        yield OpCase(op, [real(2, 3, 4), const(-2)])
        yield OpCase(op, [real(2, 3, 4), const(0)], {"output_type": "int32"})
        yield OpCase(op, [real(0, 3), const(1)])
        yield OpCase(op, [real(4), const(0)])
        yield OpCase(op, [real(0, 3), const(0)], raises=True)
    for op in ("Cumsum", "Cumprod"):
        yield OpCase(op, [_values(0, 3), const(0)], **_STEP)
        yield OpCase(op, [_values(2, 3, 2), const(-2)], {"reverse": True, "exclusive": True})


def _joins():
    yield OpCase("ConcatV2", [[real(0, 3), real(2, 3), real(0, 3)], const(-2)])
    yield OpCase("ConcatV2", [[real(2, 0), real(2, 0)], const(1)])
    yield OpCase("Pack", [[real(), real(), real()]], {"axis": -1})
    yield OpCase("Pack", [[real(0, 2), real(0, 2)]], {"axis": 1})
    yield OpCase("Unpack", [real(3)], {"num": 3})
    yield OpCase("Unpack", [real(2, 0)], {"num": 2})
    yield OpCase("Split", [const(-1), real(2, 3)], {"num_split": 1})
    yield OpCase("Split", [const(0), real(0, 3)], {"num_split": 2})
    yield OpCase("SplitV", [real(4), const([4]), const(0)], {"num_split": 1})
    yield OpCase("SplitV", [real(2, 4), const([0, 4]), const(-1)], {"num_split": 2})
    yield OpCase("AddN", [[real(), real()]])
    yield OpCase("AddN", [[real(0, 2), real(0, 2)]])


def _movement():
    yield OpCase("Transpose", [real(), _NO_AXES])
    yield OpCase("Transpose", [real(2), const([0])])
    yield OpCase("Transpose", [real(2, 0, 3), const([1, 2, 0])])
    yield OpCase("Transpose", [real(2, 1, 3, 2), const([3, 1, 0, 2])])
    yield OpCase("InvertPermutation", [_EMPTY_INDEX])
    yield OpCase("InvertPermutation", [feed([0], "int64")])
    yield OpCase("Tile", [real(), _NO_AXES])
    yield OpCase("Tile", [real(1, 3), const([4, 1])])
    yield OpCase("Tile", [real(0, 3), const([2, 2])])
    yield OpCase("ReverseV2", [real(2, 3), _NO_AXES])
    yield OpCase("ReverseV2", [real(0, 3), const([0])])
    yield OpCase("ReverseV2", [real(), _NO_AXES])
    yield OpCase("Roll", [real(3, 4), const(-5), const(-1)])
    yield OpCase("Roll", [real(0, 4), const(1), const(0)])
    yield OpCase("ReverseSequence", [real(2, 0), feed([0, 0], "int64")], {"seq_dim": 1})
    yield OpCase("Reshape", [real(), const([1, 1])])
    yield OpCase("Reshape", [real(0, 3), const([3, -1])])
    yield OpCase("Reshape", [real(2, 0), const([-1, 0])])
    yield OpCase("Reshape", [real(2, 0), feed([-1, 0], "int32")])
    yield OpCase("Reshape", [real(0, 3), feed([5, -1, 0], "int64")])
    yield OpCase("ExpandDims", [real(), const(0)])
    yield OpCase("ExpandDims", [real(2, 3), const(-3)])
    yield OpCase("Squeeze", [real(1, 1)])
    yield OpCase("Squeeze", [real(1, 0, 1)])
    yield OpCase("Slice", [real(4, 5), const([1, 2]), const([0, 3])])
    yield OpCase("Slice", [real(), _NO_AXES, _NO_AXES])
    yield OpCase("StridedSlice", [real(4), const([-1]), const([-9]), const([-1])])
    yield OpCase("StridedSlice", [real(4, 3), const([3]), const([1]), const([1])])
    yield OpCase("StridedSlice", [real(), _NO_AXES, _NO_AXES, _NO_AXES])
    yield OpCase("StridedSlice", [real(), const([0]), const([0]), const([1])], {"new_axis_mask": 1})
    yield OpCase(
        "StridedSlice",
        [real(2, 3, 4), const([0, 1, -1]), const([0, 3, 0]), const([1, 1, 1])],
        {"ellipsis_mask": 1, "shrink_axis_mask": 4},
    )
    yield OpCase("Pad", [real(2, 3), const([[0, 0], [0, 0]])])
    yield OpCase("Pad", [real(0, 3), const([[1, 1], [0, 2]])])
    yield OpCase("Pad", [real(), const(np.zeros((0, 2)), "int32")])
    yield OpCase("PadV2", [real(1, 2, 1), const([[0, 1], [1, 0], [2, 2]]), real()], grad=(0,))
    yield OpCase("PadV2", [real(0), const([[1, 2]]), real()], grad=(0,))
    yield OpCase("MirrorPad", [real(3), const([[2, 1]])], {"mode": "REFLECT"})
    yield OpCase(
        "MirrorPad", [real(2, 1, 3), const([[0, 0], [1, 1], [0, 3]])], {"mode": "SYMMETRIC"}
    )
    yield OpCase("BroadcastTo", [real(), const([2, 3])])
    yield OpCase("BroadcastTo", [real(1, 3), const([0, 3])])
    yield OpCase("BroadcastArgs", [_EMPTY_INDEX, feed([4, 1], "int32")])
    yield OpCase("Fill", [const([0, 2]), real()])
    yield OpCase("Fill", [_NO_AXES, real()])
    yield OpCase("Range", [const(3), const(3), const(1)])
    yield OpCase("Diag", [real(0)])
    yield OpCase("MatrixDiag", [real(2, 0)])
    yield OpCase("MatrixDiagPart", [real(2, 0, 3)])
    yield OpCase("MatrixBandPart", [real(3, 3), const(0, "int64"), const(0, "int64")])
    yield OpCase(
        "MatrixBandPart", [real(2, 3, 4), const(-1, "int64"), const(9, "int64")], raises=True
    )
    for op in ("SpaceToBatchND", "BatchToSpaceND"):
        yield OpCase(op, [real(4, 2, 2, 1), const([2, 2]), const([[0, 0], [0, 0]])])
        yield OpCase(op, [real(6, 4), const([1]), const([[0, 0]])])
    yield OpCase("SpaceToBatchND", [real(2, 3, 3), const([2]), const([[0, 0]])], raises=True)
    yield OpCase("BatchToSpaceND", [real(3, 3, 3), const([2]), const([[0, 0]])], raises=True)
    yield OpCase("SpaceToBatch", [real(1, 2, 2, 1), const([[1, 1], [2, 0]])], {"block_size": 2})
    yield OpCase("BatchToSpace", [real(9, 1, 1, 2), const([[0, 0], [1, 1]])], {"block_size": 3})
    yield OpCase("SpaceToDepth", [real(2, 3, 6, 1)], {"block_size": 3})
    yield OpCase("SpaceToDepth", [real(2, 3, 6, 1)], {"block_size": 2}, raises=True)
    yield OpCase("DepthToSpace", [real(2, 1, 1, 9)], {"block_size": 3})
    yield OpCase("DepthToSpace", [real(2, 1, 1, 6)], {"block_size": 2}, raises=True)


def _indexing():
    yield OpCase("GatherV2", [real(4, 3), _EMPTY_INDEX, const(0)])
    yield OpCase("GatherV2", [real(4, 3), feed(np.zeros((2, 0)), "int64"), const(-1)])
    yield OpCase("Gather", [real(4), feed(2, "int32")])
    yield OpCase("GatherNd", [real(4, 3), feed(np.zeros((2, 0)), "int32")])
    yield OpCase("GatherNd", [real(4), feed([2], "int32")])
    yield OpCase("ScatterNd", [feed(np.zeros((0, 1)), "int32"), real(0, 2), const([4, 2])])
    yield OpCase("TensorScatterUpdate", [real(4), feed([[3], [0]], "int64"), real(2)])
    yield OpCase("TensorScatterAdd", [real(4, 2), feed(np.zeros((0, 1)), "int32"), real(0, 2)])
    yield OpCase("TensorScatterSub", [real(4), feed([[3], [3]], "int32"), real(2)])
    yield OpCase("ScatterNdNonAliasingAdd", [real(4), feed([[3], [3]], "int64"), real(2)])
    yield OpCase("Where", [feed(np.zeros((2, 2)), "bool")])
    yield OpCase("Where", [feed(True, "bool")], raises=True)
    yield OpCase("Unique", [_EMPTY_INDEX])
    yield OpCase("UniqueWithCounts", [_EMPTY_INDEX], {"out_idx": "int64"})
    yield OpCase("UniqueWithCounts", [strings(["b", "a", "b"])])
    yield OpCase("ListDiff", [feed([1, 2], "int32"), _EMPTY_INDEX])
    yield OpCase("ListDiff", [_EMPTY_INDEX, feed([1], "int32")])
    yield OpCase("DynamicPartition", [real(0, 2), _EMPTY_INDEX], {"num_partitions": 2})
    yield OpCase("DynamicPartition", [real(), feed(1, "int32")], {"num_partitions": 3})
    yield OpCase("DynamicStitch", [[_EMPTY_INDEX, feed([0, 1], "int32")], [real(0, 2), real(2, 2)]])
    yield OpCase("ParallelDynamicStitch", [[feed(1, "int32"), feed(0, "int32")], [real(), real()]])
    yield OpCase("OneHot", [_EMPTY_INDEX, const(3), const(1.0, "T"), const(0.0, "T")])
    yield OpCase("OneHot", [feed(1, "int32"), const(3), const(5.0, "T"), const(-1.0, "T")])
    yield OpCase("TopKV2", [real(2, 3), const(0)])
    yield OpCase("TopKV2", [real(0, 3), const(2)])
    yield OpCase("TopKV2", [real(4), const(4)], {"sorted": True})
    yield OpCase("InTopK", [real(2, 3), feed([0, 2], "int32")], {"k": 5})
    yield OpCase("NthElement", [real(1), const(0)])
    yield OpCase("LowerBound", [feed([[1, 2]]), feed(np.zeros((1, 0)))])
    yield OpCase("UpperBound", [feed([[1, 2, 2], [0, 0, 9]]), feed([[2], [0]])])
    yield OpCase("UnravelIndex", [feed(5, "int32"), const([3, 4])])


def _segments():
    for kind in ("Sum", "Mean", "Prod", "Max", "Min"):
        yield OpCase(f"Segment{kind}", [_values(0, 2), _EMPTY_INDEX], **_STEP)
        yield OpCase(f"Segment{kind}", [_values(3), feed([0, 0, 0], "int64")])
    for kind in ("Sum", "Prod", "Max", "Min"):
        yield OpCase(f"UnsortedSegment{kind}", [_values(0, 2), _EMPTY_INDEX, const(2)], **_STEP)
        yield OpCase(f"UnsortedSegment{kind}", [_values(3), feed([-1, -1, 0], "int64"), const(1)])
    for kind in ("Sum", "Mean", "SqrtN"):
        op = f"SparseSegment{kind}"
        yield OpCase(op, [_values(3, 2), _EMPTY_INDEX, _EMPTY_INDEX], **_STEP)
        yield OpCase(op, [_values(3, 2), feed([2, 2], "int64"), feed([0, 1], "int32")])
        yield OpCase(op, [_values(3, 2), feed([3], "int32"), feed([0], "int32")], raises=True)
        yield OpCase(
            f"{op}WithNumSegments", [_values(3, 2), _EMPTY_INDEX, _EMPTY_INDEX, const(2)], **_STEP
        )
        yield OpCase(
            f"{op}WithNumSegments",
            [_values(3), feed([2, 0], "int32"), feed([1, 1], "int32"), feed(3, "int32")],
        )


def _algebra():
    yield OpCase("MatMul", [real(0, 3), real(3, 2)])
    yield OpCase("MatMul", [real(1, 1), real(1, 1)])
    yield OpCase("BatchMatMul", [real(0, 2, 3), real(0, 3, 2)])
    yield OpCase("BatchMatMul", [real(2, 2, 0), real(2, 0, 3)])
    yield OpCase("BatchMatMulV2", [real(1, 0, 2, 3), real(3, 2)])
    for op in ("Cholesky", "MatrixInverse", "MatrixDeterminant", "MatrixSquareRoot"):
        yield OpCase(op, [spd(1)], **_STEP)
        yield OpCase(op, [real(0, 2, 2)], **_STEP)
    yield OpCase("MatrixSolve", [wellcond(1), real(1, 3)])
    yield OpCase("MatrixSolve", [wellcond(2), real(2, 0)], **_STEP)
    yield OpCase("MatrixTriangularSolve", [wellcond(2), real(2, 1)])
    yield OpCase("Cross", [real(3), real(3)])
    yield OpCase("LogMatrixDeterminant", [wellcond(1)])


def _networks():
    for op in ("Softmax", "LogSoftmax"):
        yield OpCase(op, [real(0, 3)])
        yield OpCase(op, [real(2, 1)])
        yield OpCase(op, [feed([[1000.0, -1000.0], [-1000.0, -1000.0]])], **_STEP)
    yield OpCase("SparseSoftmaxCrossEntropyWithLogits", [real(0, 3), _EMPTY_INDEX], **_STEP)
    yield OpCase("SoftmaxCrossEntropyWithLogits", [real(1, 3), feed([[0.0, 1.0, 0.0]])], **_STEP)
    yield OpCase("BiasAdd", [real(0, 3), real(3)])
    yield OpCase("BiasAdd", [real(2, 3, 2, 1, 2), real(2)])
    yield OpCase("BiasAdd", [real(2, 3, 2, 1, 2), real(3)], {"data_format": "NCHW"})
    yield OpCase("BiasAddGrad", [real(0, 3)])
    yield OpCase("BiasAddV1", [real(2, 3), real(3)])
    yield OpCase("Conv2D", [real(0, 3, 3, 2), real(2, 2, 2, 3)], _CONV, oracle="tf1", **_STEP)
    yield OpCase("Conv2D", [real(1, 1, 1, 1), real(1, 1, 1, 1)], _CONV)
    yield OpCase("MaxPool", [real(0, 4, 4, 1)], _POOL, **_STEP)
    yield OpCase("AvgPool", [real(1, 1, 1, 2)], _POOL)
    yield OpCase("LRN", [real(1, 1, 1, 1)])


def _numbers():
    nan, inf = float("nan"), float("inf")
    for op in ("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"):
        yield OpCase(op, [feed([0.0, inf, 4.0]), feed([0.0, 0.0, 1.0])], **_STEP)
    for op in ("ReluGrad", "Relu6Grad", "EluGrad"):
        yield OpCase(op, [feed([1.0, 2.0, 3.0]), feed([nan, -1.0, 1.0])], **_STEP)
    for op in ("ArgMax", "ArgMin"):
        yield OpCase(op, [feed([[nan, 1.0, 2.0], [3.0, nan, 1.0], [nan] * 3]), const(1)])
    yield OpCase("ClipByValue", [feed([-2.0, 0.0, 2.0]), feed(1.0), feed(-1.0)], **_STEP)
    yield OpCase("ClipByValue", [feed([-2.0, nan, 2.0]), feed(-1.0), feed(nan)], **_STEP)
    yield OpCase(
        "UnsortedSegmentMax", [feed([2.0, 1.0, -inf]), feed([0, 0, 1], "int32"), const(3)], **_STEP
    )
    yield OpCase("LinSpace", [feed(1.0), feed(inf), const(3)])
    yield OpCase("AvgPool", [real(2, 4, 4, 0)], _POOL, **_STEP)
    yield OpCase(
        "MaxPool3D",
        [real(1, 4, 4, 4, 0)],
        {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"},
        **_STEP,
    )


CASES = [
    *_elementwise(), *_reductions(), *_joins(), *_movement(), *_indexing(), *_segments(),
    *_algebra(), *_networks(), *_numbers(),
]  # fmt: skip
