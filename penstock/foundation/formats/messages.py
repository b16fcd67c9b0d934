"""The protobuf messages of graphs and summaries, from the ``tensorboard`` package."""

from tensorboard.compat.proto.attr_value_pb2 import (
    AttrValue as AttrValue,
    NameAttrList as NameAttrList,
)
from tensorboard.compat.proto.event_pb2 import (
    Event as Event,
    LogMessage as LogMessage,
    SessionLog as SessionLog,
    TaggedRunMetadata as TaggedRunMetadata,
)
from tensorboard.compat.proto.graph_pb2 import GraphDef as GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import (
    MetaGraphDef as MetaGraphDef,
    TensorInfo as TensorInfo,
)
from tensorboard.compat.proto.node_def_pb2 import NodeDef as NodeDef
from tensorboard.compat.proto.saver_pb2 import SaverDef as SaverDef
from tensorboard.compat.proto.summary_pb2 import (
    HistogramProto as HistogramProto,
    Summary as Summary,
    SummaryDescription as SummaryDescription,
    SummaryMetadata as SummaryMetadata,
)

from penstock.foundation.formats import message_docs

message_docs.describe(GraphDef, Summary)
