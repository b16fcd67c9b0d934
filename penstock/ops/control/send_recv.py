"""Handing a tensor from one task's part of a step to another's: ``_Send`` and ``_Recv``.

Only partitioning makes them (``penstock.compiler.partition``).  ``tensor_name`` is the edge, the
same on both sides; the kernels hand it, with the peer's task, to the rendezvous of the running
step.  What is sent is a value as any program holds it: a torch tensor, or an array of objects for
strings.

``compress`` asks for lossy compression of what a node sends, as a mark on the node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.engine.resources import rendezvous
from penstock.foundation.base import dtypes
from penstock.foundation.graph import node_attrs
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import from_attr, no_outputs
from penstock.foundation.opdef.program_text import literal

_NO_GRADIENT = "made by partitioning only, after gradients are built"
_SHARED = (
    "tensor_name: string",
    "send_device: string",
    "send_device_incarnation: int",
    "recv_device: string",
    "client_terminated: bool = false",
)


def _task_of(device: str) -> str:
    return device.rpartition("/device:")[0] or device


def send(tensor: Any, edge: str, task: str, dtype: Any) -> None:
    """Sends one value.

    Args:
      tensor: a run-time value: a tensor, an array of objects, a Python number, or None (absent).
      edge: name of the edge.
      task: full name of the task that receives it.
      dtype: its torch dtype; ``object`` for strings.
    """
    if tensor is not None and not isinstance(tensor, torch.Tensor):
        if dtype is object:
            if not isinstance(tensor, np.ndarray):
                tensor = np.array(tensor, dtype=object)
        else:
            tensor = torch.as_tensor(tensor, dtype=dtype)
    rendezvous.current().send(edge, task, tensor)


def recv(edge: str, task: str) -> Any:
    """Waits for the next value of an edge, which ``task`` sends."""
    return rendezvous.current().recv(edge, task)


def compress(value: Any, name: str | None = None) -> Tensor:
    """Lets a float32 tensor travel between tasks as 16 bits.

    Where partitioning cuts an edge from the tensor's node, the part that sends rounds it to
    bfloat16 (``ToFP16``), and the part that receives widens it again (``ToFP32``): half the bytes,
    8 bits of precision in place of 24.  What stays inside a task is left exact.

    Args:
      value: a float32 tensor, or a variable: then every read of it is meant.
      name: of the ``Identity`` that is added where ``value`` is no variable.

    Returns:
      The tensor to use.

    Raises:
      TypeError: it is not float32.

    >>> import penstock as tf
    >>> x = tf.contrib.penstock.compress(tf.ones([2, 2]))
    >>> x.op.get_attr("_compress")
    True
    """
    tensor = value if isinstance(value, Tensor) else convert_to_tensor(value)
    if tensor.dtype.base_dtype is not dtypes.float32:
        raise TypeError(f"only float32 is compressed; {tensor.name} is {tensor.dtype.name}")
    op = tensor.op
    if op.op_def.passes_through and op.inputs[0].dtype.is_ref:
        op = op.inputs[0].op  # W/read stands for W
    elif op.op_def.reads and op.inputs[0].dtype is dtypes.resource:
        op = op.inputs[0].op
    if op.op_def.state is None:
        with tensor.graph.colocate_with(op):
            tensor = make("Identity", tensor, name=name or "compress")
        op = tensor.op
    op._set_attr(node_attrs.COMPRESS, True)
    return tensor


def _send_inline(call: Any) -> str:
    task, edge = _task_of(call.attr("recv_device")), call.attr("tensor_name")
    name = call.function(send)
    return f"{name}({call.arg['tensor']}, {literal(edge)}, {literal(task)}, {call.arg['T']})"


def _recv_inline(call: Any) -> str:
    task, edge = _task_of(call.attr("send_device")), call.attr("tensor_name")
    return f"{call.function(recv)}({literal(edge)}, {literal(task)})"


define_op(
    "_Send",
    "tensor: T ->",
    attrs=["T: type", *_SHARED],
    shape=no_outputs,
    inline=_send_inline,
    no_gradient=_NO_GRADIENT,
    stateful=True,
    effect=True,
    internal=True,
    on_host=True,
    role="send",
)
define_op(
    "_Recv",
    "-> tensor: tensor_type",
    # The static shape of what is sent, which a part alone could not know.
    attrs=["tensor_type: type", *_SHARED, "shape: shape"],
    shape=from_attr("shape"),
    inline=_recv_inline,
    no_gradient=_NO_GRADIENT,
    stateful=True,
    blocking=True,
    internal=True,
    on_host=True,
    role="recv",
)
