"""``tf.nn.rnn_cell``: explicit re-exports, no logic.

The three wrappers of ``projection`` had their place here before TensorFlow 1.1.
"""

from penstock.library.recurrent.basic import BasicRNNCell as BasicRNNCell, GRUCell as GRUCell
from penstock.library.recurrent.cell import LSTMStateTuple as LSTMStateTuple, RNNCell as RNNCell
from penstock.library.recurrent.lstm import BasicLSTMCell as BasicLSTMCell, LSTMCell as LSTMCell
from penstock.library.recurrent.multi import MultiRNNCell as MultiRNNCell
from penstock.library.recurrent.projection import (
    EmbeddingWrapper as EmbeddingWrapper,
    InputProjectionWrapper as InputProjectionWrapper,
    OutputProjectionWrapper as OutputProjectionWrapper,
)
from penstock.library.recurrent.wrappers import (
    DeviceWrapper as DeviceWrapper,
    DropoutWrapper as DropoutWrapper,
    ResidualWrapper as ResidualWrapper,
)
