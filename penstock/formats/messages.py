"""The protobuf messages of graphs and sessions, from the ``tensorboard`` package."""

from tensorboard.compat.proto.attr_value_pb2 import AttrValue, NameAttrList
from tensorboard.compat.proto.config_pb2 import GraphOptions, OptimizerOptions
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

__all__ = [
    "AttrValue", "GraphDef", "GraphOptions", "NameAttrList", "NodeDef", "OptimizerOptions",
]  # fmt: skip
