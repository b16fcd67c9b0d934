"""Every registered op type says what TensorFlow 1.15's does: arguments, attrs and flags."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest

import penstock
import penstock.ops
from penstock.foundation.opdef.opdef import REQUIRED, ArgDef, AttrDef
from penstock.foundation.opdef.registry import all_ops
from tests import spec

BY_IMPORT = set(all_ops())
for _module in pkgutil.walk_packages(penstock.ops.__path__, "penstock.ops."):
    importlib.import_module(_module.name)

SPEC = spec.load("op_defs.json")
OURS = {name: op for name, op in all_ops().items() if not op.internal}
CHECKED = sorted(set(OURS) & set(SPEC))
# How many ops are compared at least; raise it when ops are added.
FLOOR = 771
# Op types that TensorFlow 1.15 does not have, with what they are for.
ADDED = {
    "BatchFunction": "tf.nondifferentiable_batch_function builds it; the specification lacks it",
    "BroadcastArgs": "the broadcast of two shape vectors; 1.15 has it without a public name",
    "ConsumeMutexLock": "CriticalSection builds it; 1.15 has it without a public name",
    "DecodeImage": "tf.image.decode_image; 1.15 makes conditionals around a decoder a format",
    "IgammaGradA": "derivative of Igamma in its first argument, for its gradient",
    "MergeV2Checkpoints": "sharded savers build it; 1.15 has it without a public name",
    "OptionalFromValue": "tf.data.experimental.Optional; 1.15 has it without a public name",
    "OptionalGetValue": "tf.data.experimental.Optional; 1.15 has it without a public name",
    "OptionalHasValue": "tf.data.experimental.Optional; 1.15 has it without a public name",
    "OptionalNone": "tf.data.experimental.Optional; 1.15 has it without a public name",
    "RecordInput": "data_flow_ops.RecordInput builds it; the specification lacks it",
    "StatsAggregatorHandle": "tf.data statistics; 1.15 has it without a public name",
    "StatsAggregatorHandleV2": "tf.data statistics; 1.15 has it without a public name",
    "UniqueWithCountsV2": "gen_array_ops has it, which packages call; the specification lacks it",
    "StatsAggregatorSummary": "tf.data statistics; 1.15 has it without a public name",
    "RandomPoissonV2": "tf.random_poisson builds it; the specification lists no such row",
    "RestoreSlice": "older savers build it; 1.15 has it without a public name",
    "ResourceScatterMax": "scatter_max on resource variables",
    "ResourceScatterMin": "scatter_min on resource variables",
}
ADDED |= dict.fromkeys(
    """
    EmptyTensorList TensorListReserve TensorListFromTensor TensorListGetItem TensorListSetItem
    TensorListPushBack TensorListPopBack TensorListLength TensorListElementShape TensorListResize
    TensorListStack TensorListGather TensorListScatter TensorListScatterV2
    TensorListScatterIntoExistingList TensorListSplit TensorListConcat TensorListConcatV2
    TensorListConcatLists
    """.split(),
    "what loops of TensorFlow 2's functions gather in; 1.15 has them without public names",
)
ADDED |= dict.fromkeys(
    """
    SummaryWriter CreateSummaryFileWriter CreateSummaryDbWriter FlushSummaryWriter
    CloseSummaryWriter WriteSummary WriteRawProtoSummary ImportEvent WriteScalarSummary
    WriteHistogramSummary WriteImageSummary WriteAudioSummary WriteGraphSummary
    """.split(),
    "tf.contrib.summary makes them; 1.15 has them without public names",
)
ADDED |= dict.fromkeys(
    """
    CombinedNonMaxSuppression EncodeJpegVariableQuality NonMaxSuppressionV4 NonMaxSuppressionV5
    QuantizedResizeBilinear SampleDistortedBoundingBoxV2 ScaleAndTranslate ScaleAndTranslateGrad
    """.split(),
    "functions of tf.image make them; 1.15 has them without public names",
)
ADDED |= dict.fromkeys(
    """
    QuantizedAdd QuantizedAvgPool QuantizedBatchNormWithGlobalNormalization QuantizedConcat
    QuantizedInstanceNorm QuantizedMul QuantizedRelu6 QuantizedReluX QuantizedReshape
    """.split(),
    "graphs that tools have quantized hold them; the specification lists only some of their kind",
)
ADDED |= dict.fromkeys(
    """
    RaggedGather RaggedRange RaggedTensorFromVariant RaggedTensorToSparse RaggedTensorToVariant
    UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode
    """.split(),
    "ragged tensors are made of them; 1.15 has them without public names",
)
ADDED |= dict.fromkeys(
    """
    CudnnRNNBackpropV2 CudnnRNNBackpropV3 CudnnRNNCanonicalToParams CudnnRNNCanonicalToParamsV2
    CudnnRNNParamsToCanonical CudnnRNNParamsToCanonicalV2 CudnnRNNV2 CudnnRNNV3
    """.split(),
    "tf.contrib.cudnn_rnn is made of them; 1.15 has them without public names",
)
ADDED["DeepCopy"] = "as the Inplace ops, which change copies; 1.15 has it without a public name"
ADDED |= dict.fromkeys(
    """
    BesselI0e BesselI1e DecodeCompressed DecodeProtoV2 EncodeProto NextAfter SparseCross
    TridiagonalMatMul UnicodeScript UnicodeTranscode
    """.split(),
    "functions of tf.math, tf.linalg, tf.io, tf.sparse and tf.strings make them; the specification"
    " lists no such rows",
)
ADDED |= dict.fromkeys(
    ["SparseFeatureCross", "SparseFeatureCrossV2"],
    "contrib's own library has them: the crossed columns of tf.contrib.layers",
)
ADDED["GatherTree"] = "contrib's own library has it: beams followed back to their starts"
ADDED |= dict.fromkeys(
    """
    AdjustHsvInYiq BipartiteMatch ImageConnectedComponents ImageProjectiveTransform
    ImageProjectiveTransformV2 Resampler ResamplerGrad
    """.split(),
    "contrib's own libraries have them, for tf.contrib.image and tf.contrib.resampler",
)
ADDED |= dict.fromkeys(
    """
    BoostedTreesBucketize BoostedTreesCalculateBestGainsPerFeature BoostedTreesCenterBias
    BoostedTreesCreateEnsemble BoostedTreesCreateQuantileStreamResource
    BoostedTreesDeserializeEnsemble BoostedTreesEnsembleResourceHandleOp
    BoostedTreesGetEnsembleStates BoostedTreesMakeQuantileSummaries BoostedTreesMakeStatsSummary
    BoostedTreesPredict BoostedTreesQuantileStreamResourceAddSummaries
    BoostedTreesQuantileStreamResourceDeserialize BoostedTreesQuantileStreamResourceFlush
    BoostedTreesQuantileStreamResourceGetBucketBoundaries
    BoostedTreesQuantileStreamResourceHandleOp BoostedTreesSerializeEnsemble
    BoostedTreesTrainingPredict BoostedTreesUpdateEnsemble IsBoostedTreesEnsembleInitialized
    IsBoostedTreesQuantileStreamResourceInitialized
    """.split(),
    "the estimators of boosted trees make them; 1.15 has them without public names",
)
ADDED |= dict.fromkeys(
    ["SdcaFprint", "SdcaOptimizer", "SdcaOptimizerV2", "SdcaShrinkL1"],
    "tf.train.sdca_* make them; the specification lists no such rows",
)
ADDED["FakeQueue"] = "readers of the older form take queues by it; 1.15 has no public name for it"
ADDED["LMDBReader"] = "tf.LMDBReader; the specification lists no such row"
ADDED["StatelessCase"] = "what functions of TensorFlow 2 have for Case without effects"
# Ops that we call stateful and TensorFlow does not.
MORE_STATEFUL = {
    "MatchingFiles": "the files there may change between two of them",
    "ReadFile": "what the file holds may change between two of them",
    "DeserializeSparse": "what it unpacks may be a variant, which is no constant",
    "ExtractGlimpse": "it draws noise, each step other",
    "FractionalAvgPool": "it draws windows, each step others",
    "FractionalMaxPool": "it draws windows, each step others",
    "ImmutableConst": "the file that it lies in is looked at in a step, not while one is compiled",
    "Placeholder": "its value is fed: two of them must not be merged",
    "PlaceholderV2": "its value is fed: two of them must not be merged",
    "SerializeManySparse": "what it makes may be a variant, which is no constant",
    "SerializeSparse": "what it makes may be a variant, which is no constant",
    "IsVariableInitialized": "it reads the variable's state, which may change between two of them",
}
# (op, attr): why we allow other types than TensorFlow.
OTHER_TYPES: dict[tuple[str, str], str] = {}
_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def _type(dtype: Any) -> str:
    return _NAMES.get(dtype.base_dtype.name, dtype.base_dtype.name)


def _argument(arg: ArgDef) -> str:
    kind = _type(arg.dtype) if arg.dtype is not None else arg.type_attr
    if arg.type_list_attr is not None:
        kind = f"list({arg.type_list_attr})"
    if arg.number_attr is not None:
        kind = f"{arg.number_attr} * {kind}"
    if arg.is_ref:
        kind = f"Ref({kind})"
    return f"{arg.name}: {kind}"


def _tensor_text(array: Any) -> str:
    """A small integer vector as the specification prints it."""
    values = "".join(f"int_val: {value}\n" for value in array.tolist())
    dims = f"tensor_shape {{\n  dim {{\n    size: {array.size}\n  }}\n}}\n"
    return f"dtype: DT_{array.dtype.name.upper()}\n{dims}{values}"


def _attr(attr: AttrDef) -> dict[str, Any]:
    said: dict[str, Any] = {"type": attr.kind}
    if attr.default is not REQUIRED:
        default = attr.default
        if attr.kind == "type":
            default = _type(default)
        elif attr.kind == "list(type)":
            default = [_type(one) for one in default]
        elif attr.kind == "tensor":
            default = _tensor_text(default)
        said["default"] = default
    if attr.minimum:
        said["min"] = attr.minimum
    return said


def _allowed(attr: AttrDef) -> set[str] | None:
    if attr.allowed is None:
        return None
    return {a if isinstance(a, str) else _type(a) for a in attr.allowed}


def test_importing_the_package_registers_every_op() -> None:
    assert set(OURS) <= BY_IMPORT


def test_ops_that_tensorflow_lacks_are_stated() -> None:
    # The op types of tf.data have a test of their own.
    datasets = {n for n in OURS if "Dataset" in n or "Iterator" in n}
    assert set(OURS) - set(SPEC) - datasets == set(ADDED)


def test_many_ops_are_checked() -> None:
    assert len(CHECKED) >= FLOOR


@pytest.mark.parametrize("name", CHECKED)
def test_signature(name: str) -> None:
    _check_arguments(name)
    _check_attrs(name)
    _check_allowed_values(name)
    _check_flags(name)


def _check_arguments(name: str) -> None:
    assert [_argument(a) for a in OURS[name].inputs] == SPEC[name]["inputs"]
    assert [_argument(a) for a in OURS[name].outputs] == SPEC[name]["outputs"]


def _check_attrs(name: str) -> None:
    theirs = {
        attr: {k: v for k, v in said.items() if k != "allowed" and (k, v) != ("min", 0)}
        for attr, said in SPEC[name]["attrs"].items()
    }
    assert {a: _attr(d) for a, d in OURS[name].attrs.items()} == theirs


def _check_allowed_values(name: str) -> None:
    for attr, said in SPEC[name]["attrs"].items():
        found = _allowed(OURS[name].attrs[attr])
        wanted = set(said["allowed"]) if "allowed" in said else None
        if (name, attr) in OTHER_TYPES:
            assert found != wanted, "the exception is not needed any more"
        else:
            assert found == wanted


def _check_flags(name: str) -> None:
    op = OURS[name]
    wanted = SPEC[name].get("stateful", False)
    assert op.stateful == (True if name in MORE_STATEFUL else wanted)
    assert not (name in MORE_STATEFUL and wanted), "the exception is not needed any more"
    # Ours may say more (AddV2 is commutative as well); never less.
    assert op.commutative >= SPEC[name].get("commutative", False)
