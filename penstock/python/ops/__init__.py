"""Modules of ops that TF1 programs import by path."""

from penstock.python.ops import (
    control_flow_ops as control_flow_ops,
    functional_ops as functional_ops,
    lookup_ops as lookup_ops,
    rnn as rnn,
    rnn_cell as rnn_cell,
    rnn_cell_impl as rnn_cell_impl,
    tensor_array_ops as tensor_array_ops,
)
