"""Sonnet's modules: names of variables, outputs and gradients, of equal values of variables."""

import json
import zlib

import numpy as np
import sonnet as snt
import tensorflow as tf

IMAGES = np.random.RandomState(0).randn(2, 8, 8, 3).astype(np.float32)
ROWS = np.random.RandomState(1).randn(3, 5).astype(np.float32)
STEPS = np.random.RandomState(2).randn(4, 3, 5).astype(np.float32)


def nested():
    """A module of modules, one of them used twice."""

    class Twice(snt.AbstractModule):
        def __init__(self, name="twice"):
            super().__init__(name=name)
            with self._enter_variable_scope():
                self._inner = snt.Linear(5, name="inner")

        def _build(self, x):
            return self._inner(tf.nn.relu(self._inner(x))) + snt.Linear(5, name="last")(x)

    return Twice()


def alexnet():
    """AlexNet as small as its first layers allow."""
    return snt.nets.AlexNet(mode=snt.nets.AlexNet.MINI, use_batch_norm=False)


def unrolled(core):
    """A core over all steps."""
    return lambda x: tf.nn.dynamic_rnn(
        core, x, initial_state=core.initial_state(3), time_major=True
    )[0]


def conv_lstm():
    """A convolutional LSTM over four images."""
    core = snt.Conv2DLSTM(input_shape=[8, 8, 3], output_channels=2, kernel_shape=3)
    return lambda x: core(x, core.initial_state(2))[0]


def transposed():
    """A linear module, then its transpose."""
    linear = snt.Linear(4, name="there")
    return lambda x: linear.transpose()(linear(x))


def conv_transposed():
    """A convolution, then its transpose."""
    conv = snt.Conv2D(4, 3, stride=2, name="there")
    return lambda x: conv.transpose()(conv(x))


def shared():
    """A function as a module, called twice."""
    module = snt.Module(lambda x: snt.Linear(5)(x), name="shared")
    return lambda x: module(module(x))


def regularized():
    """Initializers, regularizers and partitions by name of the variable."""
    linear = snt.Linear(
        4,
        initializers={"w": tf.ones_initializer(), "b": tf.constant_initializer(0.5)},
        regularizers={"w": tf.contrib.layers.l2_regularizer(0.1)},
    )
    return lambda x: linear(x) + tf.add_n(tf.get_collection("regularization_losses"))


CASES = {
    "linear": (lambda: snt.Linear(4), ROWS),
    "mlp": (lambda: snt.nets.MLP([6, 4], activate_final=True), ROWS),
    "mlp_transpose": (
        lambda: (lambda m: lambda x: m.transpose()(m(x)))(snt.nets.MLP([6, 4])),
        ROWS,
    ),
    "conv1d": (lambda: snt.Conv1D(4, 3), STEPS),
    "conv2d": (lambda: snt.Conv2D(4, 3, stride=2, padding=snt.VALID), IMAGES),
    "conv2d_rate": (lambda: snt.Conv2D(4, 3, rate=2), IMAGES),
    "conv2d_masked": (lambda: snt.Conv2D(4, 3, mask=np.tril(np.ones([3, 3], np.float32))), IMAGES),
    "conv3d": (lambda: snt.Conv3D(2, 3), IMAGES[:, None]),
    "conv2d_transpose": (lambda: snt.Conv2DTranspose(4, [16, 16], 3, stride=2), IMAGES),
    "separable": (lambda: snt.SeparableConv2D(4, 2, 3), IMAGES),
    "depthwise": (lambda: snt.DepthwiseConv2D(2, 3), IMAGES),
    "in_plane": (lambda: snt.InPlaneConv2D(3), IMAGES),
    "conv_net": (lambda: snt.nets.ConvNet2D([4, 6], [3], [2, 1], [snt.SAME]), IMAGES),
    "conv_net_active": (
        lambda: snt.nets.ConvNet2D([4], [3], [2], [snt.SAME], activate_final=True),
        IMAGES,
    ),
    "batch_norm": (
        lambda: (lambda m: lambda x: m(x, is_training=True))(snt.BatchNorm(scale=True)),
        IMAGES,
    ),
    "batch_norm_v2": (
        lambda: (lambda m: lambda x: m(x, is_training=True))(snt.BatchNormV2()),
        IMAGES,
    ),
    "batch_norm_test": (
        lambda: (lambda m: lambda x: m(x, is_training=False))(snt.BatchNorm()),
        IMAGES,
    ),
    "layer_norm": (lambda: snt.LayerNorm(), ROWS),
    "embed": (
        lambda: (lambda m: lambda x: m(tf.constant([[1, 3], [0, 2]])) * x[0, 0])(snt.Embed(5, 4)),
        ROWS,
    ),
    "alexnet": (
        lambda: (lambda m: lambda x: m(tf.tile(x, [1, 8, 8, 1]), is_training=False))(alexnet()),
        IMAGES,
    ),
    "sequential": (lambda: snt.Sequential([snt.Linear(4), tf.nn.tanh, snt.Linear(2)]), ROWS),
    "nested": (nested, ROWS),
    "shared": (shared, ROWS),
    "transposed": (transposed, ROWS),
    "conv_transposed": (conv_transposed, IMAGES),
    "regularized": (regularized, ROWS),
    "flatten": (lambda: snt.Sequential([snt.BatchFlatten(), snt.Linear(2)]), IMAGES),
    "reshape": (lambda: snt.BatchReshape([4, 16, 3]), IMAGES),
    "trainable": (lambda: (lambda m: lambda x: m() * x[0, 0])(snt.TrainableVariable([3, 2])), ROWS),
    "bias": (lambda: snt.AddBias(), ROWS),
    "batch_apply": (lambda: snt.BatchApply(snt.Linear(3)), STEPS),
    "merge": (lambda: (lambda m: lambda x: m(x))(snt.MergeDims(0, 2)), STEPS),
    "slice": (lambda: snt.SliceByDim([1], [1], [2]), ROWS),
    "attention": (
        lambda: (lambda m: lambda x: m(x, x[:, 0]).read)(snt.AttentiveRead(snt.Linear(1))),
        STEPS,
    ),
    "vanilla": (lambda: unrolled(snt.VanillaRNN(4)), STEPS),
    "lstm": (lambda: unrolled(snt.LSTM(4)), STEPS),
    "lstm_peephole": (
        lambda: unrolled(snt.LSTM(4, use_peepholes=True, cell_clip_value=1.0)),
        STEPS,
    ),
    "lstm_layer_norm": (lambda: unrolled(snt.LSTM(4, use_layer_norm=True)), STEPS),
    "gru": (lambda: unrolled(snt.GRU(4)), STEPS),
    "highway": (lambda: unrolled(snt.HighwayCore(5, 2)), STEPS),
    "deep": (
        lambda: unrolled(
            snt.DeepRNN([snt.LSTM(4), tf.nn.tanh, snt.LSTM(3)], skip_connections=False)
        ),
        STEPS,
    ),
    "deep_skip": (
        lambda: unrolled(snt.DeepRNN([snt.LSTM(4), snt.GRU(3)], skip_connections=True)),
        STEPS,
    ),
    "residual_core": (lambda: unrolled(snt.ResidualCore(snt.LSTM(5))), STEPS),
    "conv_lstm": (conv_lstm, IMAGES),
    "trainable_state": (
        lambda: (lambda core: lambda x: core(x[0], core.initial_state(3, trainable=True))[0])(
            snt.LSTM(4)
        ),
        STEPS,
    ),
}


def value_of(variable):
    """Values that follow from a variable's name."""
    seed = zlib.crc32(variable.name.encode()) % 2**31
    shape = variable.shape.as_list()
    reach = min(0.5, 1 / np.sqrt(np.prod(shape[:-1])))
    drawn = np.random.RandomState(seed).uniform(-reach, reach, shape)
    return (abs(drawn) + 0.1 if "variance" in variable.name else drawn).astype(np.float32)


def told(make, value):
    """Names of the variables, the output, and the gradients' sizes."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(value)
        y = make()(x)
        variables = tf.trainable_variables()
        weights = tf.cast(tf.range(tf.size(y)), tf.float32) / tf.cast(tf.size(y), tf.float32)
        loss = tf.reduce_sum(tf.reshape(y, [-1]) * weights)
        grads = tf.gradients(loss, variables + [x])
        session.run(tf.global_variables_initializer())
        for each in tf.global_variables():
            each.load(value_of(each), session)
        kept = [g for g in grads if g is not None]
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        found, sizes = session.run(
            [y, [tf.reduce_sum(tf.abs(tf.convert_to_tensor(g))) for g in kept]]
        )
        session.run(updates)
        others = [v for v in tf.global_variables() if v not in variables]
        return {
            "variables": [[v.name, v.shape.as_list()] for v in tf.global_variables()],
            "trainable": [v.name for v in variables],
            "output": y.op.name,
            "shape": list(found.shape),
            "values": np.asarray(found, np.float64).ravel()[:24].tolist(),
            "sum": float(np.asarray(found, np.float64).sum()),
            "gradients": [float(s) for s in sizes],
            "lacking": [i for i, g in enumerate(grads) if g is None],
            "updated": [
                np.asarray(v, np.float64).ravel()[:6].tolist() for v in session.run(others)
            ],
        }


def main():
    """Prints what each module is."""
    found = {}
    for name, (make, value) in sorted(CASES.items()):
        found[name] = told(make, value)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
