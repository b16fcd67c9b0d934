"""``tf.contrib.rnn``: more cells, and the names of ``tf.nn.rnn_cell``.

Cells that only this package has stand here, a family a file; the others are re-exported.
"""

from penstock.contrib.rnn.attention import AttentionCellWrapper
from penstock.contrib.rnn.block import (
    GRUBlockCell,
    GRUBlockCellV2,
    LSTMBlockCell,
    LSTMBlockFusedCell,
    LSTMBlockWrapper,
)
from penstock.contrib.rnn.conv import (
    Conv1DLSTMCell,
    Conv2DLSTMCell,
    Conv3DLSTMCell,
    ConvLSTMCell,
)
from penstock.contrib.rnn.fused import FusedRNNCell, FusedRNNCellAdaptor, TimeReversedFusedRNN
from penstock.contrib.rnn.gated import (
    IndRNNCell,
    IndyGRUCell,
    IntersectionRNNCell,
    SRUCell,
    UGRNNCell,
)
from penstock.contrib.rnn.grid import BidirectionalGridLSTMCell, GridLSTMCell, TimeFreqLSTMCell
from penstock.contrib.rnn.highway import CompiledWrapper, HighwayWrapper
from penstock.contrib.rnn.layer_norm import LayerNormBasicLSTMCell
from penstock.contrib.rnn.lstm_variants import (
    CoupledInputForgetGateLSTMCell,
    GLSTMCell,
    IndyLSTMCell,
    NASCell,
    PhasedLSTMCell,
)
from penstock.contrib.rnn.stacked import stack_bidirectional_dynamic_rnn, stack_bidirectional_rnn
from penstock.recurrent import rnn_cell
from penstock.recurrent.basic import BasicRNNCell, GRUCell
from penstock.recurrent.bidirectional import static_bidirectional_rnn
from penstock.recurrent.cell import LayerRNNCell, LSTMStateTuple, RNNCell
from penstock.recurrent.lstm import BasicLSTMCell, LSTMCell
from penstock.recurrent.multi import MultiRNNCell
from penstock.recurrent.projection import (
    EmbeddingWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from penstock.recurrent.static import static_rnn, static_state_saving_rnn
from penstock.recurrent.step import best_effort_input_batch_size, transpose_batch_time
from penstock.recurrent.wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper

__all__ = [
    "AttentionCellWrapper",
    "BasicLSTMCell",
    "BasicRNNCell",
    "BidirectionalGridLSTMCell",
    "CompiledWrapper",
    "Conv1DLSTMCell",
    "Conv2DLSTMCell",
    "Conv3DLSTMCell",
    "ConvLSTMCell",
    "CoupledInputForgetGateLSTMCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "EmbeddingWrapper",
    "FusedRNNCell",
    "FusedRNNCellAdaptor",
    "GLSTMCell",
    "GRUBlockCell",
    "GRUBlockCellV2",
    "GRUCell",
    "GridLSTMCell",
    "HighwayWrapper",
    "IndRNNCell",
    "IndyGRUCell",
    "IndyLSTMCell",
    "InputProjectionWrapper",
    "IntersectionRNNCell",
    "LSTMBlockCell",
    "LSTMBlockFusedCell",
    "LSTMBlockWrapper",
    "LSTMCell",
    "LSTMStateTuple",
    "LayerNormBasicLSTMCell",
    "LayerRNNCell",
    "MultiRNNCell",
    "NASCell",
    "OutputProjectionWrapper",
    "PhasedLSTMCell",
    "RNNCell",
    "ResidualWrapper",
    "SRUCell",
    "TimeFreqLSTMCell",
    "TimeReversedFusedRNN",
    "UGRNNCell",
    "best_effort_input_batch_size",
    "rnn_cell",
    "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "transpose_batch_time",
]
