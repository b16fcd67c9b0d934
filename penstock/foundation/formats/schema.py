"""Protobuf messages that the ``tensorboard`` package lacks: checkpoints, saved models, examples.

They are made from the table below when this module is imported.  The package is ``penstock``, so a
process that imports TensorFlow as well has no clash of names; bytes and text forms hold no package
names and are TensorFlow's.  Fields that hold shapes, tensors or graphs are of ``tensorboard``'s
classes.

The table has the form of ``formats.message_table``.

Source: field names and numbers of TensorFlow's tensor_bundle.proto, saved_tensor_slice.proto,
tensor_slice.proto, checkpoint_state.proto, saved_model.proto, example.proto, feature.proto,
queue_runner.proto, reader_base.proto, control_flow.proto and error_codes.proto.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import (
    meta_graph_pb2,
    tensor_pb2,
    tensor_shape_pb2,
    types_pb2,
    versions_pb2,
)

from penstock.foundation.formats import message_docs
from penstock.foundation.formats.message_table import Rows, make_messages

_MESSAGES: dict[str, Rows] = {
    "TensorSliceProto.Extent": {"start": (1, "int64"), "length": (2, "?int64")},
    "TensorSliceProto": {"extent": (1, "*TensorSliceProto.Extent")},
    "BundleHeaderProto": {
        "num_shards": (1, "int32"),
        "endianness": (2, "BundleHeaderProto.Endianness"),
        "version": (3, "tensorboard.VersionDef"),
    },
    "BundleEntryProto": {
        "dtype": (1, "tensorboard.DataType"),
        "shape": (2, "tensorboard.TensorShapeProto"),
        "shard_id": (3, "int32"),
        "offset": (4, "int64"),
        "size": (5, "int64"),
        "crc32c": (6, "fixed32"),
        "slices": (7, "*TensorSliceProto"),
    },
    "SavedSliceMeta": {
        "name": (1, "string"),
        "shape": (2, "tensorboard.TensorShapeProto"),
        "type": (3, "tensorboard.DataType"),
        "slice": (4, "*TensorSliceProto"),
    },
    "SavedTensorSliceMeta": {
        "tensor": (1, "*SavedSliceMeta"),
        "versions": (2, "tensorboard.VersionDef"),
    },
    "SavedSlice": {
        "name": (1, "string"),
        "slice": (2, "TensorSliceProto"),
        "data": (3, "tensorboard.TensorProto"),
    },
    "SavedTensorSlices": {"meta": (1, "SavedTensorSliceMeta"), "data": (2, "SavedSlice")},
    "CheckpointState": {
        "model_checkpoint_path": (1, "string"),
        "all_model_checkpoint_paths": (2, "*string"),
        "all_model_checkpoint_timestamps": (3, "*double"),
        "last_preserved_timestamp": (4, "double"),
    },
    "SavedModel": {
        "saved_model_schema_version": (1, "int64"),
        "meta_graphs": (2, "*tensorboard.MetaGraphDef"),
    },
    "BytesList": {"value": (1, "*bytes")},
    "FloatList": {"value": (1, "*float")},
    "Int64List": {"value": (1, "*int64")},
    "Feature": {
        "bytes_list": (1, "?BytesList"),
        "float_list": (2, "?FloatList"),
        "int64_list": (3, "?Int64List"),
    },
    "Features": {"feature": (1, "map<Feature>")},
    "FeatureList": {"feature": (1, "*Feature")},
    "FeatureLists": {"feature_list": (1, "map<FeatureList>")},
    "Example": {"features": (1, "Features")},
    "SequenceExample": {"context": (1, "Features"), "feature_lists": (2, "FeatureLists")},
    "QueueRunnerDef": {
        "queue_name": (1, "string"),
        "enqueue_op_name": (2, "*string"),
        "close_op_name": (3, "string"),
        "cancel_op_name": (4, "string"),
        "queue_closed_exception_types": (5, "*Code"),
    },
    "ValuesDef": {"values": (1, "*string"), "external_values": (2, "map<string>")},
    "ControlFlowContextDef": {
        "cond_ctxt": (1, "?CondContextDef"),
        "while_ctxt": (2, "?WhileContextDef"),
    },
    "CondContextDef": {
        "context_name": (1, "string"),
        "pred_name": (2, "string"),
        "pivot_name": (3, "string"),
        "branch": (4, "int32"),
        "values_def": (5, "ValuesDef"),
        "nested_contexts": (6, "*ControlFlowContextDef"),
    },
    "WhileContextDef": {
        "context_name": (1, "string"),
        "parallel_iterations": (2, "int32"),
        "back_prop": (3, "bool"),
        "swap_memory": (4, "bool"),
        "pivot_name": (5, "string"),
        "pivot_for_pred_name": (6, "string"),
        "pivot_for_body_name": (7, "string"),
        "loop_exit_names": (8, "*string"),
        "values_def": (9, "ValuesDef"),
        "loop_enter_names": (10, "*string"),
        "maximum_iterations_name": (11, "string"),
        "nested_contexts": (12, "*ControlFlowContextDef"),
    },
    "ReaderBaseState": {
        "work_started": (1, "int64"),
        "work_finished": (2, "int64"),
        "num_records_produced": (3, "int64"),
        "current_work": (4, "bytes"),
    },
}
# The codes of ``tf.errors``, by number.
_CODES = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
    "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
    "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
_ONEOFS = {
    "TensorSliceProto.Extent": "has_length", "Feature": "kind", "ControlFlowContextDef": "ctxt",
}  # fmt: skip


_classes = make_messages(
    "schema",
    _MESSAGES,
    imported=(meta_graph_pb2, tensor_pb2, tensor_shape_pb2, types_pb2, versions_pb2),
    enums={"BundleHeaderProto.Endianness": ("LITTLE", "BIG"), "Code": _CODES},
    foreign_enums=("tensorboard.DataType",),
    oneofs=_ONEOFS,
)
BundleHeaderProto: Any = _classes["BundleHeaderProto"]
BundleEntryProto: Any = _classes["BundleEntryProto"]
TensorSliceProto: Any = _classes["TensorSliceProto"]
SavedSliceMeta: Any = _classes["SavedSliceMeta"]
SavedTensorSliceMeta: Any = _classes["SavedTensorSliceMeta"]
SavedSlice: Any = _classes["SavedSlice"]
SavedTensorSlices: Any = _classes["SavedTensorSlices"]
CheckpointState: Any = _classes["CheckpointState"]
SavedModel: Any = _classes["SavedModel"]
BytesList: Any = _classes["BytesList"]
FloatList: Any = _classes["FloatList"]
Int64List: Any = _classes["Int64List"]
Feature: Any = _classes["Feature"]
Features: Any = _classes["Features"]
FeatureList: Any = _classes["FeatureList"]
FeatureLists: Any = _classes["FeatureLists"]
Example: Any = _classes["Example"]
SequenceExample: Any = _classes["SequenceExample"]
QueueRunnerDef: Any = _classes["QueueRunnerDef"]
ReaderBaseState: Any = _classes["ReaderBaseState"]
ValuesDef: Any = _classes["ValuesDef"]
ControlFlowContextDef: Any = _classes["ControlFlowContextDef"]
CondContextDef: Any = _classes["CondContextDef"]
WhileContextDef: Any = _classes["WhileContextDef"]

message_docs.describe(BytesList, FloatList, Int64List, Feature, Features, Example)
