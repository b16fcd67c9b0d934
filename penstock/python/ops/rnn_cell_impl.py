"""``from penstock.python.ops import rnn_cell_impl``; where cells written for TF 1.x look."""

from penstock.recurrent.cell import (
    LayerRNNCell as LayerRNNCell,
    LSTMStateTuple as LSTMStateTuple,
    RNNCell as RNNCell,
    assert_like_rnncell as assert_like_rnncell,
    joined_shape as __concat,
    zeros_of as __zero_state_tensors,
)
from penstock.recurrent.rnn_cell import (
    BasicLSTMCell as BasicLSTMCell,
    BasicRNNCell as BasicRNNCell,
    DeviceWrapper as DeviceWrapper,
    DropoutWrapper as DropoutWrapper,
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
    MultiRNNCell as MultiRNNCell,
    ResidualWrapper as ResidualWrapper,
)

_concat = __concat
_zero_state_tensors = __zero_state_tensors
