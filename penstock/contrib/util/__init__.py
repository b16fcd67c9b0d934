"""``tf.contrib.util``: tensors and arrays as messages, values known before running."""

from penstock.contrib.util.op_lists import (
    constant_value as constant_value,
    ops_used_by_graph_def as ops_used_by_graph_def,
    stripped_op_list_for_graph as stripped_op_list_for_graph,
)
from penstock.foundation.base import public_names
from penstock.foundation.graph.behavior import make_ndarray as make_ndarray
from penstock.ops.array.messages import make_tensor_proto as make_tensor_proto

__dir__ = public_names.listing(__name__)
