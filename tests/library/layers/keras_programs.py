"""Programs of ``tf.keras.layers``, called on tensors."""

import numpy as np

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def _x(tf, *dims):
    return tf.placeholder(tf.float32, [None] + list(dims))


def _layer(kind, dims, *args, **arguments):
    def made(tf):
        layer = getattr(tf.keras.layers, kind)(*args, **arguments)
        return [layer(_x(tf, *dims)), layer(_x(tf, *dims))]

    return made


_SIMPLE = {
    "dense": ("Dense", [4], 3),
    "dense_sequence": ("Dense", [2, 4], 3),
    "conv1d": ("Conv1D", [7, 3], 4, 3),
    "conv2d": ("Conv2D", [7, 6, 3], 4, 3),
    "conv3d": ("Conv3D", [5, 5, 5, 2], 4, 3),
    "conv2d_transpose": ("Conv2DTranspose", [4, 4, 3], 2, 3, 2),
    "conv3d_transpose": ("Conv3DTranspose", [3, 3, 3, 2], 2, 2),
    "separable1d": ("SeparableConv1D", [7, 3], 4, 3),
    "separable2d": ("SeparableConv2D", [7, 6, 3], 4, 3),
    "max_pool1d": ("MaxPooling1D", [7, 3]),
    "max_pool2d": ("MaxPool2D", [7, 6, 3]),
    "average_pool3d": ("AveragePooling3D", [4, 4, 4, 3]),
    "global_max1d": ("GlobalMaxPooling1D", [7, 3]),
    "global_max2d": ("GlobalMaxPool2D", [7, 6, 3]),
    "global_average1d": ("GlobalAveragePooling1D", [7, 3]),
    "global_average2d": ("GlobalAveragePooling2D", [7, 6, 3]),
    "global_average3d": ("GlobalAveragePooling3D", [3, 3, 3, 2]),
    "flatten": ("Flatten", [2, 3]),
    "reshape": ("Reshape", [2, 6], (3, -1)),
    "permute": ("Permute", [2, 6, 4], (3, 1, 2)),
    "repeat": ("RepeatVector", [4], 3),
    "masking": ("Masking", [4, 3]),
    "activation": ("Activation", [4], "tanh"),
    "activation_hard_sigmoid": ("Activation", [4], "hard_sigmoid"),
    "activation_exponential": ("Activation", [4], "exponential"),
    "activation_softmax": ("Activation", [4], "softmax"),
    "activation_softmax_3": ("Activation", [2, 4], "softmax"),
    "leaky_relu": ("LeakyReLU", [4]),
    "prelu": ("PReLU", [4]),
    "elu": ("ELU", [4], 0.5),
    "thresholded": ("ThresholdedReLU", [4], 0.2),
    "softmax": ("Softmax", [4]),
    "relu": ("ReLU", [4]),
    "dropout": ("Dropout", [4], 0.4),
    "spatial_dropout1d": ("SpatialDropout1D", [4, 3], 0.4),
    "spatial_dropout2d": ("SpatialDropout2D", [4, 4, 3], 0.4),
    "batch_normalization": ("BatchNormalization", [4]),
    "batch_normalization_image": ("BatchNormalization", [4, 4, 3]),
    "pad1d": ("ZeroPadding1D", [4, 3], (1, 2)),
    "pad2d": ("ZeroPadding2D", [4, 3, 2], ((1, 2), (0, 1))),
    "pad3d": ("ZeroPadding3D", [2, 3, 2, 2]),
    "crop1d": ("Cropping1D", [4, 3], (1, 0)),
    "crop2d": ("Cropping2D", [4, 5, 2], ((1, 2), (0, 1))),
    "crop3d": ("Cropping3D", [4, 5, 4, 2], (1, 2, 1)),
    "up1d": ("UpSampling1D", [4, 3]),
    "up2d": ("UpSampling2D", [4, 3, 2], (2, 3)),
    "up3d": ("UpSampling3D", [2, 3, 2, 2]),
    "error_pad": ("ZeroPadding2D", [4, 3], 1),
    "error_dense": ("Dense", [], 3),
    "error_reshape": ("Reshape", [5], (2, 3)),
    "error_permute": ("Permute", [5], (2, 3)),
    "error_repeat": ("RepeatVector", [5, 2], 3),
    "error_activation": ("Activation", [5], "reluu"),
    "error_relu": ("ReLU", [5], -1.0),
    "error_initializer": ("Dense", [5], 3, None, True, "best"),
    "error_keyword": ("Activation", [5], "relu"),
}
for _key, (_name, _dims, *_args) in _SIMPLE.items():
    PROGRAMS[_key] = _layer(_name, _dims, *_args)
PROGRAMS["causal"] = _layer("Conv1D", [7, 3], 4, 3, padding="causal")
PROGRAMS["separable_causal"] = _layer("SeparableConv1D", [7, 3], 4, 3, padding="causal")
PROGRAMS["relu_bounded"] = _layer("ReLU", [4], max_value=0.5, negative_slope=0.1, threshold=0.1)
PROGRAMS["up2d_bilinear"] = _layer("UpSampling2D", [4, 3, 2], interpolation="bilinear")
PROGRAMS["relu6"] = _layer("ReLU", [4], max_value=6)
PROGRAMS["relu_slope"] = _layer("ReLU", [4], negative_slope=0.1)
PROGRAMS["output_padding"] = _layer("Conv2DTranspose", [4, 4, 3], 2, 3, 2, output_padding=1)
PROGRAMS["prelu_shared"] = _layer("PReLU", [4, 4, 3], shared_axes=[1, 2])
PROGRAMS["dense_all"] = _layer(
    "Dense", [4], 3, activation="relu", kernel_initializer="he_normal", bias_initializer="ones",
    kernel_regularizer="l2", bias_regularizer="l1", activity_regularizer="l1_l2",
    kernel_constraint="max_norm", name="d",
)  # fmt: skip
for _key in (
    "glorot_normal", "lecun_uniform", "random_normal", "random_uniform", "truncated_normal",
    "orthogonal", "identity", "uniform", "normal", "VarianceScaling",
):  # fmt: skip
    PROGRAMS["initializer_" + _key] = _layer("Dense", [3], 3, kernel_initializer=_key)
for _key in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):

    def _merged(tf, key=_key):
        x, y = _x(tf, 4), _x(tf, 4)
        function = getattr(tf.keras.layers, key.lower())
        return getattr(tf.keras.layers, key)()([x, y]), function([y, x])

    def _wide(tf, key=_key):
        return getattr(tf.keras.layers, key)()([_x(tf, 2, 4), _x(tf, 4), _x(tf, 2, 1)])

    PROGRAMS["merge_" + _key.lower()] = _merged
    PROGRAMS["merge_wide_" + _key.lower()] = _wide


@program
def dots(tf):
    dot = tf.keras.layers.dot
    return [
        dot([_x(tf, 4), _x(tf, 4)], 1),
        dot([_x(tf, 4), _x(tf, 4)], -1, normalize=True),
        dot([_x(tf, 3, 4), _x(tf, 5, 4)], 2),
        dot([_x(tf, 4, 3), _x(tf, 4, 5)], (1, 1)),
        dot([_x(tf, 4, 3), _x(tf, 5, 4)], (1, 2)),
        dot([_x(tf, 3, 4), _x(tf, 4)], (2, 1)),
    ]


@program
def error_merge_one(tf):
    return tf.keras.layers.Add()([_x(tf, 4)])


@program
def error_merge_shapes(tf):
    return tf.keras.layers.Add()([_x(tf, 4), _x(tf, 3)])


@program
def error_concatenate(tf):
    return tf.keras.layers.concatenate([_x(tf, 4, 2), _x(tf, 3, 2)])


@program
def embedding(tf):
    ids = tf.placeholder(tf.int32, [None, 5])
    layer = tf.keras.layers.Embedding(10, 3, embeddings_regularizer="l2")
    return layer(ids), layer(tf.cast(ids, tf.float32)), layer.losses[0]


@program
def regularized(tf):
    layer = tf.keras.layers.Dense(3, kernel_regularizer=tf.keras.regularizers.l1_l2(0.1, 0.2))
    layer(_x(tf, 4))
    other = tf.keras.layers.ActivityRegularization(0.1, 0.2)
    y = other(_x(tf, 4))
    return layer.losses + other.losses + [y]


@program
def constraints(tf):
    made = tf.constant(np.arange(6).reshape(2, 3) - 2.5, tf.float32)
    names = ("MaxNorm", "NonNeg", "UnitNorm", "MinMaxNorm")
    return [getattr(tf.keras.constraints, name)()(made) for name in names]


@program
def training_phase(tf):
    x = _x(tf, 4)
    drop = tf.keras.layers.Dropout(0.5)
    norm = tf.keras.layers.BatchNormalization()
    made = [drop(x), drop(x, training=True), norm(x), norm(x, training=True)]
    assert len(norm.updates) == 4, norm.updates
    assert len(norm.get_updates_for(x)) == 4
    return made


@program
def lambdas(tf):
    layer = tf.keras.layers.Lambda(lambda x, factor=1.0: x * factor, arguments={"factor": 3.0})
    return layer(_x(tf, 4))


@program
def nested(tf):
    class Block(tf.keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.first = tf.keras.layers.Dense(4, activation="relu")
            self.rest = [tf.keras.layers.Dense(4), tf.keras.layers.Dropout(0.5)]

        def build(self, shape):
            self.scale = self.add_weight("scale", [4], initializer="ones")
            self.count = tf.Variable(0.0, trainable=False, name="count")

        def call(self, inputs, training=None):
            x = self.first(inputs)
            for layer in self.rest:
                x = layer(x)
            self.add_loss(tf.reduce_sum(x) * 0.1, inputs=True)
            return x * self.scale

    block = Block()
    y = block(_x(tf, 4), training=False)
    names = [v.name for v in block.weights]
    return y, block.losses[0], tf.constant(names)


@program
def input_layer_like(tf):
    layers = [tf.keras.layers.Dense(3) for _ in range(2)]
    x = _x(tf, 4)
    with tf.name_scope("outer"):
        a = layers[0](x)
    with tf.variable_scope("scoped"):
        b = layers[1](x)
    return a, b, tf.keras.layers.Dense(2)(a), tf.layers.dense(b, 2)
