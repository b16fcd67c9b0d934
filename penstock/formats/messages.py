"""The protobuf messages of graphs, from the ``tensorboard`` package."""

from tensorboard.compat.proto.attr_value_pb2 import AttrValue, NameAttrList
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

__all__ = ["AttrValue", "GraphDef", "NameAttrList", "NodeDef"]
