"""Modules of ops that TF1 programs import by path."""

from penstock.python.ops import (
    control_flow_ops,
    functional_ops,
    lookup_ops,
    rnn,
    rnn_cell,
    rnn_cell_impl,
    tensor_array_ops,
)

__all__ = [
    "control_flow_ops",
    "functional_ops",
    "lookup_ops",
    "rnn",
    "rnn_cell",
    "rnn_cell_impl",
    "tensor_array_ops",
]
