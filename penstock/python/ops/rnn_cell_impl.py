"""``from penstock.python.ops import rnn_cell_impl``; where cells written for TF 1.x look."""

from penstock.recurrent.cell import (
    LayerRNNCell,
    LSTMStateTuple,
    RNNCell,
    assert_like_rnncell,
)
from penstock.recurrent.cell import joined_shape as _concat
from penstock.recurrent.cell import zeros_of as _zero_state_tensors
from penstock.recurrent.rnn_cell import (
    BasicLSTMCell,
    BasicRNNCell,
    DeviceWrapper,
    DropoutWrapper,
    GRUCell,
    LSTMCell,
    MultiRNNCell,
    ResidualWrapper,
)

__all__ = [
    "BasicLSTMCell",
    "BasicRNNCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "GRUCell",
    "LSTMCell",
    "LSTMStateTuple",
    "LayerRNNCell",
    "MultiRNNCell",
    "RNNCell",
    "ResidualWrapper",
    "_concat",
    "_zero_state_tensors",
    "assert_like_rnncell",
]
