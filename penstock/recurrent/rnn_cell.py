"""``tf.nn.rnn_cell``: explicit re-exports, no logic.

The three wrappers of ``projection`` had their place here before TensorFlow 1.1.
"""

from penstock.recurrent.basic import BasicRNNCell, GRUCell
from penstock.recurrent.cell import LSTMStateTuple, RNNCell
from penstock.recurrent.lstm import BasicLSTMCell, LSTMCell
from penstock.recurrent.multi import MultiRNNCell
from penstock.recurrent.projection import (
    EmbeddingWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from penstock.recurrent.wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper

__all__ = [
    "BasicLSTMCell",
    "BasicRNNCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "EmbeddingWrapper",
    "GRUCell",
    "InputProjectionWrapper",
    "LSTMCell",
    "LSTMStateTuple",
    "MultiRNNCell",
    "OutputProjectionWrapper",
    "RNNCell",
    "ResidualWrapper",
]
