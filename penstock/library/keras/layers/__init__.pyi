"""The public names of ``tf.keras.layers``; ``__init__.py`` reads it as well."""

from penstock.library.keras.layers.attention import (
    AdditiveAttention as AdditiveAttention,
    Attention as Attention,
)
from penstock.library.keras.layers.cell_states import AbstractRNNCell as AbstractRNNCell
from penstock.library.keras.layers.cells import (
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
    SimpleRNNCell as SimpleRNNCell,
)
from penstock.library.keras.layers.convolution import (
    Conv1D as Conv1D,
    Conv1D as _Convolution1D,
    Conv2D as Conv2D,
    Conv2D as _Convolution2D,
    Conv3D as Conv3D,
    Conv3D as _Convolution3D,
)
from penstock.library.keras.layers.convolutional_recurrent import (
    ConvLSTM2D as ConvLSTM2D,
)
from penstock.library.keras.layers.cudnn_recurrent import (
    CuDNNGRU as CuDNNGRU,
    CuDNNLSTM as CuDNNLSTM,
)
from penstock.library.keras.layers.dense import (
    Dense as Dense,
)
from penstock.library.keras.layers.depthwise import (
    DepthwiseConv2D as DepthwiseConv2D,
)
from penstock.library.keras.layers.dropout import (
    Dropout as Dropout,
)
from penstock.library.keras.layers.embedding import (
    Embedding as Embedding,
)
from penstock.library.keras.layers.flatten import (
    Flatten as Flatten,
)
from penstock.library.keras.layers.layer_normalization import (
    LayerNormalization as LayerNormalization,
)
from penstock.library.keras.layers.local import (
    LocallyConnected1D as LocallyConnected1D,
    LocallyConnected2D as LocallyConnected2D,
)
from penstock.library.keras.layers.merging import (
    Add as Add,
    Average as Average,
    Concatenate as Concatenate,
    Dot as Dot,
    Maximum as Maximum,
    Minimum as Minimum,
    Multiply as Multiply,
    Subtract as Subtract,
    add as add,
    average as average,
    concatenate as concatenate,
    dot as dot,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    subtract as subtract,
)
from penstock.library.keras.layers.noise import (
    AlphaDropout as AlphaDropout,
    GaussianDropout as GaussianDropout,
    GaussianNoise as GaussianNoise,
)
from penstock.library.keras.layers.normalization import (
    BatchNormalization as BatchNormalization,
)
from penstock.library.keras.layers.padding import (
    Cropping1D as Cropping1D,
    Cropping2D as Cropping2D,
    Cropping3D as Cropping3D,
    UpSampling1D as UpSampling1D,
    UpSampling2D as UpSampling2D,
    UpSampling3D as UpSampling3D,
    ZeroPadding1D as ZeroPadding1D,
    ZeroPadding2D as ZeroPadding2D,
    ZeroPadding3D as ZeroPadding3D,
)
from penstock.library.keras.layers.pooling import (
    AveragePooling1D as AveragePooling1D,
    AveragePooling1D as _AvgPool1D,
    AveragePooling2D as AveragePooling2D,
    AveragePooling2D as _AvgPool2D,
    AveragePooling3D as AveragePooling3D,
    AveragePooling3D as _AvgPool3D,
    GlobalAveragePooling1D as GlobalAveragePooling1D,
    GlobalAveragePooling1D as _GlobalAvgPool1D,
    GlobalAveragePooling2D as GlobalAveragePooling2D,
    GlobalAveragePooling2D as _GlobalAvgPool2D,
    GlobalAveragePooling3D as GlobalAveragePooling3D,
    GlobalAveragePooling3D as _GlobalAvgPool3D,
    GlobalMaxPooling1D as GlobalMaxPooling1D,
    GlobalMaxPooling1D as _GlobalMaxPool1D,
    GlobalMaxPooling2D as GlobalMaxPooling2D,
    GlobalMaxPooling2D as _GlobalMaxPool2D,
    GlobalMaxPooling3D as GlobalMaxPooling3D,
    GlobalMaxPooling3D as _GlobalMaxPool3D,
    MaxPooling1D as MaxPooling1D,
    MaxPooling1D as _MaxPool1D,
    MaxPooling2D as MaxPooling2D,
    MaxPooling2D as _MaxPool2D,
    MaxPooling3D as MaxPooling3D,
    MaxPooling3D as _MaxPool3D,
)
from penstock.library.keras.layers.rectifiers import (
    ELU as ELU,
    LeakyReLU as LeakyReLU,
    PReLU as PReLU,
    ReLU as ReLU,
    Softmax as Softmax,
    ThresholdedReLU as ThresholdedReLU,
)
from penstock.library.keras.layers.recurrent import (
    GRU as GRU,
    LSTM as LSTM,
    RNN as RNN,
    SimpleRNN as SimpleRNN,
    StackedRNNCells as StackedRNNCells,
)
from penstock.library.keras.layers.reshaping import (
    Activation as Activation,
    ActivityRegularization as ActivityRegularization,
    Lambda as Lambda,
    Masking as Masking,
    Permute as Permute,
    RepeatVector as RepeatVector,
    Reshape as Reshape,
    SpatialDropout1D as SpatialDropout1D,
    SpatialDropout2D as SpatialDropout2D,
    SpatialDropout3D as SpatialDropout3D,
)
from penstock.library.keras.layers.separable import (
    SeparableConv1D as SeparableConv1D,
    SeparableConv1D as _SeparableConvolution1D,
    SeparableConv2D as SeparableConv2D,
    SeparableConv2D as _SeparableConvolution2D,
)
from penstock.library.keras.layers.serialization import (
    deserialize as deserialize,
    serialize as serialize,
)
from penstock.library.keras.layers.transposed import (
    Conv2DTranspose as Conv2DTranspose,
    Conv2DTranspose as _Convolution2DTranspose,
    Conv3DTranspose as Conv3DTranspose,
    Conv3DTranspose as _Convolution3DTranspose,
)
from penstock.library.keras.layers.wrappers import (
    Bidirectional as Bidirectional,
    TimeDistributed as TimeDistributed,
    Wrapper as Wrapper,
)
from penstock.library.layer_base.input_spec import InputSpec as InputSpec
from penstock.library.layer_base.layer import Layer as Layer
from penstock.training.feature_column.keras_layers import DenseFeatures as DenseFeatures
from penstock.training.keras_models.input_layer import (
    Input as Input,
    InputLayer as InputLayer,
)

Convolution1D = _Convolution1D
Convolution2D = _Convolution2D
Convolution3D = _Convolution3D
MaxPool1D = _MaxPool1D
MaxPool2D = _MaxPool2D
MaxPool3D = _MaxPool3D
AvgPool1D = _AvgPool1D
AvgPool2D = _AvgPool2D
AvgPool3D = _AvgPool3D
GlobalMaxPool1D = _GlobalMaxPool1D
GlobalMaxPool2D = _GlobalMaxPool2D
GlobalMaxPool3D = _GlobalMaxPool3D
GlobalAvgPool1D = _GlobalAvgPool1D
GlobalAvgPool2D = _GlobalAvgPool2D
GlobalAvgPool3D = _GlobalAvgPool3D
SeparableConvolution1D = _SeparableConvolution1D
SeparableConvolution2D = _SeparableConvolution2D
Convolution2DTranspose = _Convolution2DTranspose
Convolution3DTranspose = _Convolution3DTranspose
