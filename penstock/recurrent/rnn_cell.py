"""``tf.nn.rnn_cell``: explicit re-exports, no logic.

The three wrappers of ``projection`` had their place here before TensorFlow 1.1.
"""

from penstock.recurrent.basic import BasicRNNCell as BasicRNNCell, GRUCell as GRUCell
from penstock.recurrent.cell import LSTMStateTuple as LSTMStateTuple, RNNCell as RNNCell
from penstock.recurrent.lstm import BasicLSTMCell as BasicLSTMCell, LSTMCell as LSTMCell
from penstock.recurrent.multi import MultiRNNCell as MultiRNNCell
from penstock.recurrent.projection import (
    EmbeddingWrapper as EmbeddingWrapper,
    InputProjectionWrapper as InputProjectionWrapper,
    OutputProjectionWrapper as OutputProjectionWrapper,
)
from penstock.recurrent.wrappers import (
    DeviceWrapper as DeviceWrapper,
    DropoutWrapper as DropoutWrapper,
    ResidualWrapper as ResidualWrapper,
)
