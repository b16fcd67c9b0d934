"""Partition graphs as TensorFlow shows them: a GraphDef for each device.

A program runs on all devices of its task, so between these nothing is sent; in what is shown, an
edge from one device to another is a ``_Send`` and a ``_Recv`` all the same, one pair for each
tensor and device.  Those between tasks are in the part already.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.foundation.base import dtypes
from penstock.foundation.formats import tensor_proto
from penstock.foundation.opdef.registry import OPS


def device_graphs(graph_def: Any) -> list[Any]:
    """Splits a GraphDef by device.

    Args:
      graph_def: what one program runs, every node with its full device name, each after what it
        needs; as ``_If`` and ``_While`` nodes hold blocks, these nodes are among the others.

    Returns:
      The GraphDefs by device name; ``graph_def`` itself where all is on one device.
    """
    found = sorted({node.device for node in graph_def.node})
    if len(found) <= 1:
        return [graph_def]
    return _Splitter(graph_def, found).split()


class _Splitter:
    """State: a graph for each device, nodes by name, the pairs made so far with their receives."""

    def __init__(self, graph_def: Any, found: list[str]) -> None:
        self.source = graph_def
        self.graphs = {device: GraphDef() for device in found}
        self.nodes = {node.name: node for node in graph_def.node}
        self.received: dict[tuple[str, str], str] = {}

    def split(self) -> list[Any]:
        for graph in self.graphs.values():
            graph.versions.CopyFrom(self.source.versions)
            graph.library.CopyFrom(self.source.library)
        for node in self.source.node:
            inputs = [self._input(text, node.device) for text in node.input]
            made = self.graphs[node.device].node.add()
            made.CopyFrom(node)
            made.input[:] = inputs
        return list(self.graphs.values())

    def _input(self, text: str, device: str) -> str:
        """What a node on ``device`` takes in the place of an input."""
        name = text.removeprefix("^").partition(":")[0]
        source = self.nodes.get(name)
        if source is None or source.device == device:
            return text
        key = text, device
        if key not in self.received:
            self.received[key] = self._pair(text, source, device)
        received = self.received[key]
        return f"^{received}" if text.startswith("^") else received

    def _pair(self, text: str, source: Any, device: str) -> str:
        """Adds a send and a receive; gives the receive's name."""
        number = len(self.received)
        control = text.startswith("^")
        value, dtype = text, dtypes.float32.as_datatype_enum
        here = self.graphs[source.device]
        if control:
            dummy = here.node.add(name=f"{source.name}/_done_{number}", op="Const")
            dummy.device = source.device
            dummy.input.append(text)
            zero = dtypes.float32.as_numpy_dtype(0).reshape(())
            dummy.attr["value"].tensor.CopyFrom(tensor_proto.to_proto(zero, dtypes.float32))
            dummy.attr["dtype"].type = dtype
            value = dummy.name
        else:
            dtype = _output_type(source, int(text.partition(":")[2] or 0))
        edge = {
            "tensor_name": AttrValue(s=f"edge_{number}_{source.name}".encode()),
            "send_device": AttrValue(s=source.device.encode()),
            "send_device_incarnation": AttrValue(i=1),
            "recv_device": AttrValue(s=device.encode()),
            "client_terminated": AttrValue(b=False),
        }
        send = here.node.add(name=f"{source.name}/_send_{number}", op="_Send")
        send.device = source.device
        send.input.append(value)
        recv = self.graphs[device].node.add(name=f"{source.name}/_recv_{number}", op="_Recv")
        recv.device = device
        for node, name in ((send, "T"), (recv, "tensor_type")):
            node.attr[name].type = dtype
            for key, attr in edge.items():
                node.attr[key].CopyFrom(attr)
        return str(recv.name)


def _output_type(node: Any, index: int) -> int:
    """The element type of an output, as its op type says."""
    types: list[int] = []
    for arg in OPS[node.op].outputs:
        if arg.type_list_attr is not None:
            types.extend(node.attr[arg.type_list_attr].list.type)
            continue
        if arg.dtype is not None:
            dtype = arg.dtype.base_dtype.as_datatype_enum
        else:
            dtype = node.attr[arg.type_attr or ""].type
        types.extend([dtype] * (node.attr[arg.number_attr].i if arg.number_attr else 1))
    return types[index]
