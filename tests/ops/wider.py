"""Dtypes that TensorFlow has kernels for and that the families' own rows leave out.

Each pair is (dtypes, op types): the widest row of the op is run in these dtypes too.
"""

from __future__ import annotations

_TABLE = (
    (
        "uint32 uint64",
        "ArgMax ArgMin Assign AssignAdd AssignAddVariableOp AssignSub AssignSubVariableOp "
        "BatchToSpace BatchToSpaceND BiasAdd BiasAddGrad BroadcastTo Cast ConcatV2 Cumprod "
        "Cumsum ExpandDims ExtractImagePatches Fill GatherNd Identity ListDiff LowerBound "
        "MatrixBandPart MatrixDiag MatrixDiagPart MatrixSetDiag Max MaxPoolGrad "
        "MaxPoolGradGrad Min MirrorPadGrad NthElement Pack Prod Rank Relu Relu6 Relu6Grad "
        "ReluGrad Reshape SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum Shape Size "
        "Slice SpaceToBatch SpaceToBatchND SparseToDense Split SplitV Squeeze StridedSlice "
        "Sum TensorScatterAdd TensorScatterSub Tile TopKV2 Transpose Unpack "
        "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum "
        "UpperBound Where",
    ),
    (
        "uint32 uint64 string",
        "AssignVariableOp Concat DepthToSpace DynamicPartition DynamicStitch EnsureShape "
        "Gather GuaranteeConst IdentityN IsVariableInitialized MirrorPad OneHot Pad "
        "ParallelConcat ParallelDynamicStitch ReadVariableOp ResourceGather ResourceGatherNd "
        "ResourceScatterNdUpdate ResourceScatterUpdate ResourceStridedSliceAssign "
        "ReverseSequence Roll ScatterNdUpdate ScatterUpdate SelectV2 SpaceToDepth "
        "StopGradient StridedSliceAssign StridedSliceGrad TensorScatterUpdate",
    ),
    (
        "complex64 complex128",
        "ApplyAdadelta ApplyAdagrad ApplyAdam ApplyCenteredRMSProp ApplyGradientDescent "
        "ApplyMomentum ApplyRMSProp ResourceApplyAdadelta "
        "ResourceApplyAdagrad ResourceApplyAdam ResourceApplyCenteredRMSProp "
        "ResourceApplyGradientDescent ResourceApplyMomentum ResourceApplyRMSProp "
        "ResourceSparseApplyAdadelta ResourceSparseApplyAdagrad "
        "ResourceSparseApplyCenteredRMSProp ResourceSparseApplyMomentum "
        "ResourceSparseApplyRMSProp SparseApplyAdadelta SparseApplyAdagrad "
        "SparseApplyCenteredRMSProp SparseApplyMomentum SparseApplyRMSProp",
    ),
    (
        "uint32 uint64 complex64 complex128",
        "BiasAddV1 ResourceScatterAdd ResourceScatterDiv ResourceScatterMul "
        "ResourceScatterSub ScatterAdd ScatterDiv ScatterMul ScatterNdAdd ScatterNdSub "
        "ScatterSub",
    ),
    (
        "half",
        "Cholesky CumulativeLogsumexp MatrixInverse MatrixTriangularSolve Qr SelfAdjointEigV2 Svd",
    ),
    (
        "bfloat16",
        "Conv2DBackpropInput Neg Range ResourceApplyAdaMax Sign",
    ),
    (
        "half bfloat16",
        "Diag DiagPart ResourceApplyAdagradDA ResourceApplyProximalAdagrad "
        "ResourceApplyProximalGradientDescent",
    ),
    (
        "float64 half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 "
        "complex128 bool string",
        "RefIdentity ShapeN StringFormat",
    ),
    (
        "int8 int16 uint8 uint16 uint32 uint64",
        "Mean ResourceScatterMax ResourceScatterMin",
    ),
    (
        "uint32 uint64 bool string",
        "PadV2 ScatterNd UniqueWithCounts",
    ),
    (
        "half bfloat16 int8 int16 int64 uint8 uint16 uint32 uint64",
        "SparseSegmentSum SparseSegmentSumWithNumSegments",
    ),
    (
        "int8 int16 int64 uint8 uint16 uint32 uint64",
        "MaxPoolGradGradV2 MaxPoolGradV2",
    ),
    (
        "uint32 uint64 bool",
        "ScatterNdNonAliasingAdd Unique",
    ),
    (
        "uint32 uint64 complex64 complex128 bool",
        "ResourceScatterNdAdd ResourceScatterNdSub",
    ),
    (
        "bfloat16 int16 uint16",
        "OnesLike",
    ),
    (
        "bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128 bool "
        "string",
        "Print",
    ),
    (
        "bfloat16 int8 int16 uint16 uint32 uint64",
        "ZerosLike",
    ),
    (
        "bfloat16 int8 int16 uint8 uint16 uint32 uint64",
        "Cross",
    ),
    (
        "float32 float64 half bfloat16 complex64 complex128",
        "TruncateDiv",
    ),
    (
        "float64 half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 "
        "complex128 string",
        "Assert",
    ),
    (
        "float64 half bfloat16 int8 int16 int64 uint8 uint16 uint32 uint64 bool string",
        "ConjugateTranspose",
    ),
    (
        "float64 half bfloat16 int8 int16 uint8 uint16 uint32 uint64 bool string",
        "UniqueV2",
    ),
    (
        "half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64",
        "MaxPoolWithArgmax",
    ),
    (
        "half bfloat16 int8 int16 int32 uint8 uint16 uint32 uint64",
        "MaxPoolGradWithArgmax",
    ),
    (
        "half bfloat16 int8 int16 int64 uint8 uint16 uint32 uint64 complex64 complex128",
        "ClipByValue",
    ),
    (
        "half bfloat16 int8 int64 complex64 complex128",
        "ApproximateEqual",
    ),
    (
        "int64",
        "HistogramFixedWidth",
    ),
    (
        "int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128 bool string",
        "PreventGradient",
    ),
    (
        "int8 int16 int64 uint8 uint16 uint32 uint64 ",
        "EuclideanNorm",
    ),
    (
        "int8 int32 int64 uint8",
        "RealDiv",
    ),
    (
        "int8 uint32",
        "Bitcast",
    ),
    (
        "qint8 quint16 qint32",
        "Reshape ConcatV2 Concat Cast ReadVariableOp PlaceholderWithDefault Identity IdentityN "
        "StopGradient Print Gather GatherV2 Shape ShapeN Rank Size ExpandDims Squeeze "
        "EnsureShape Fill AssignVariableOp",
    ),
    (
        "quint8 qint32",
        "Assign Pack BiasAdd Sum Max Min ArgMax Select SelectV2 AddN BroadcastTo Bitcast Equal "
        "NotEqual ZerosLike GatherNd ScatterNd TensorScatterUpdate DynamicStitch Unpack Split "
        "SplitV MatrixDiag MatrixDiagPart MatrixSetDiag MatrixBandPart Pad PadV2 MirrorPad "
        "SpaceToBatchND BatchToSpaceND SpaceToDepth DepthToSpace Slice StridedSlice "
        "StridedSliceGrad ResourceScatterUpdate Transpose ReverseSequence Roll",
    ),
    ("qint8", "Relu MaxPool"),
)

WIDER: dict[str, tuple[str, ...]] = {}
for _dtypes, _ops in _TABLE:
    for _op in _ops.split():
        WIDER[_op] = (*WIDER.get(_op, ()), *_dtypes.split())
