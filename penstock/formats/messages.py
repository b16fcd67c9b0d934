"""The protobuf messages of graphs and summaries, from the ``tensorboard`` package."""

from tensorboard.compat.proto.attr_value_pb2 import AttrValue, NameAttrList
from tensorboard.compat.proto.event_pb2 import Event, LogMessage, SessionLog, TaggedRunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef, TensorInfo
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.saver_pb2 import SaverDef
from tensorboard.compat.proto.summary_pb2 import (
    HistogramProto,
    Summary,
    SummaryDescription,
    SummaryMetadata,
)

__all__ = [
    "AttrValue", "Event", "GraphDef", "HistogramProto", "LogMessage", "MetaGraphDef",
    "NameAttrList", "NodeDef", "SaverDef", "SessionLog", "Summary", "SummaryDescription",
    "SummaryMetadata", "TaggedRunMetadata", "TensorInfo",
]  # fmt: skip
