"""``tf.contrib.cudnn_rnn``: recurrent networks of several layers as one op.

``layers`` has them, ``cells`` the cells that compute the same step by step, ``converters`` goes
between their flat parameters and the cells' variables, and ``saveables`` puts the parameters into
checkpoints under the names of those variables.
"""

from penstock.contrib.cudnn_rnn.cells import (
    CudnnCompatibleGRUCell as CudnnCompatibleGRUCell,
    CudnnCompatibleLSTMCell as CudnnCompatibleLSTMCell,
)
from penstock.contrib.cudnn_rnn.converters import (
    CudnnParamsFormatConverterGRU as CudnnParamsFormatConverterGRU,
    CudnnParamsFormatConverterLSTM as CudnnParamsFormatConverterLSTM,
    CudnnParamsFormatConverterRelu as CudnnParamsFormatConverterRelu,
    CudnnParamsFormatConverterTanh as CudnnParamsFormatConverterTanh,
)
from penstock.contrib.cudnn_rnn.layers import (
    CudnnGRU as CudnnGRU,
    CudnnLSTM as CudnnLSTM,
    CudnnRNNRelu as CudnnRNNRelu,
    CudnnRNNTanh as CudnnRNNTanh,
)
from penstock.contrib.cudnn_rnn.saveables import (
    CudnnGRUSaveable as CudnnGRUSaveable,
    CudnnLSTMSaveable as CudnnLSTMSaveable,
    CudnnRNNReluSaveable as CudnnRNNReluSaveable,
    CudnnRNNTanhSaveable as CudnnRNNTanhSaveable,
)
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
