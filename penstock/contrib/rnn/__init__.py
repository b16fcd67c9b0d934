"""``tf.contrib.rnn``: more cells, and the names of ``tf.nn.rnn_cell``.

Cells that only this package has stand here, a family a file; the others are re-exported.
"""

from penstock.contrib.rnn.attention import AttentionCellWrapper as AttentionCellWrapper
from penstock.contrib.rnn.block import (
    GRUBlockCell as GRUBlockCell,
    GRUBlockCellV2 as GRUBlockCellV2,
    LSTMBlockCell as LSTMBlockCell,
    LSTMBlockFusedCell as LSTMBlockFusedCell,
    LSTMBlockWrapper as LSTMBlockWrapper,
)
from penstock.contrib.rnn.conv import (
    Conv1DLSTMCell as Conv1DLSTMCell,
    Conv2DLSTMCell as Conv2DLSTMCell,
    Conv3DLSTMCell as Conv3DLSTMCell,
    ConvLSTMCell as ConvLSTMCell,
)
from penstock.contrib.rnn.fused import (
    FusedRNNCell as FusedRNNCell,
    FusedRNNCellAdaptor as FusedRNNCellAdaptor,
    TimeReversedFusedRNN as TimeReversedFusedRNN,
)
from penstock.contrib.rnn.gated import (
    IndRNNCell as IndRNNCell,
    IndyGRUCell as IndyGRUCell,
    IntersectionRNNCell as IntersectionRNNCell,
    SRUCell as SRUCell,
    UGRNNCell as UGRNNCell,
)
from penstock.contrib.rnn.grid import (
    BidirectionalGridLSTMCell as BidirectionalGridLSTMCell,
    GridLSTMCell as GridLSTMCell,
    TimeFreqLSTMCell as TimeFreqLSTMCell,
)
from penstock.contrib.rnn.highway import (
    CompiledWrapper as CompiledWrapper,
    HighwayWrapper as HighwayWrapper,
)
from penstock.contrib.rnn.layer_norm import LayerNormBasicLSTMCell as LayerNormBasicLSTMCell
from penstock.contrib.rnn.lstm_variants import (
    CoupledInputForgetGateLSTMCell as CoupledInputForgetGateLSTMCell,
    GLSTMCell as GLSTMCell,
    IndyLSTMCell as IndyLSTMCell,
    NASCell as NASCell,
    PhasedLSTMCell as PhasedLSTMCell,
)
from penstock.contrib.rnn.stacked import (
    stack_bidirectional_dynamic_rnn as stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn as stack_bidirectional_rnn,
)
from penstock.foundation.base import public_names
from penstock.library.recurrent import rnn_cell as rnn_cell
from penstock.library.recurrent.basic import BasicRNNCell as BasicRNNCell, GRUCell as GRUCell
from penstock.library.recurrent.bidirectional import (
    static_bidirectional_rnn as static_bidirectional_rnn,
)
from penstock.library.recurrent.cell import (
    LayerRNNCell as LayerRNNCell,
    LSTMStateTuple as LSTMStateTuple,
    RNNCell as RNNCell,
)
from penstock.library.recurrent.lstm import BasicLSTMCell as BasicLSTMCell, LSTMCell as LSTMCell
from penstock.library.recurrent.multi import MultiRNNCell as MultiRNNCell
from penstock.library.recurrent.projection import (
    EmbeddingWrapper as EmbeddingWrapper,
    InputProjectionWrapper as InputProjectionWrapper,
    OutputProjectionWrapper as OutputProjectionWrapper,
)
from penstock.library.recurrent.static import (
    static_rnn as static_rnn,
    static_state_saving_rnn as static_state_saving_rnn,
)
from penstock.library.recurrent.step import (
    best_effort_input_batch_size as best_effort_input_batch_size,
    transpose_batch_time as transpose_batch_time,
)
from penstock.library.recurrent.wrappers import (
    DeviceWrapper as DeviceWrapper,
    DropoutWrapper as DropoutWrapper,
    ResidualWrapper as ResidualWrapper,
)

__dir__ = public_names.listing(__name__)
