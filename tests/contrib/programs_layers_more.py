"""Programs of what few networks take of ``tf.contrib.layers`` (``recorded``)."""

import numpy as np

from tests.contrib.recorded import names, nodes, refused, values

RNG = np.random.RandomState(5)
IMAGES = RNG.normal(size=[2, 4, 4, 3]).astype("float32")
ONES, OTHERS = RNG.normal(size=[2, 2, 3]).astype("float32")
MATRICES = RNG.normal(size=[8, 3, 3]).astype("float32")


def _set(tf, sess):
    """Gives each variable a value that depends on its place alone."""
    for i, variable in enumerate(tf.trainable_variables()):
        value = MATRICES[i % 8].reshape(-1)[: int(np.prod(variable.shape.as_list()))]
        variable.load(value.reshape(variable.shape.as_list()), sess)


def _with_values(tf, tensors, feed=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        _set(tf, sess)
        return sess.run(tensors, feed)


def case_gdn(tf):
    layers = tf.contrib.layers
    found = []
    for shape, options in (
        ([2, 4, 4, 3], {}),
        ([2, 4, 4, 3], {"inverse": True, "gamma_init": 0.3, "name": "inverted"}),
        ([2, 3, 16], {"data_format": "channels_first", "trainable": False}),
        ([2, 2, 2, 4, 3], {"beta_min": 0.01, "reparam_offset": 0.125}),
    ):
        with tf.Graph().as_default():
            x = tf.constant(IMAGES.reshape(shape))
            y = layers.gdn(x, **options)
            if "data_format" in options:  # TensorFlow has no kernels for it on a processor
                grads, y = [], tf.identity(x)
            else:
                grads = tf.gradients(y, [x, *tf.global_variables()])
            found.append([nodes(tf), names(tf.trainable_variables()), y.shape.as_list()])
            *found_values, last = values(tf, [y, *grads])
            # Beside its diagonal gamma begins at its bound: how a root rounds decides what passes.
            found.append([*found_values, np.diag(last) if grads else last])
    with tf.Graph().as_default():
        layer = layers.GDN(name="one", activity_regularizer=lambda y: tf.reduce_sum(y))
        y = layer(tf.constant(IMAGES))
        found.append([layer.inverse, layer.data_format, names(layer.weights), layer.beta.name])
        found.append([layer.gamma.name, layer.input_spec.ndim, len(layer.losses)])
        again = layers.gdn(tf.constant(IMAGES), name="one", reuse=True)
        found.append([again.name, names(tf.global_variables())])
        x = tf.placeholder(tf.float32, [None, None])
        found.append(refused(lambda: layers.gdn(x), "expected min_ndim=3, found ndim=2"))
        x = tf.placeholder(tf.float32, [1, 2, 3, 4, 5, 6])
        found.append(refused(lambda: layers.gdn(x), "expected max_ndim=5, found ndim=6"))
        x = tf.placeholder(tf.float32, [1, 2, None])
        found.append(refused(lambda: layers.gdn(x), "must be defined"))
        found.append(refused(lambda: layers.GDN(data_format="x"), "Unsupported `data_format`"))
    return found


def case_gdn_bounds(tf):
    """What is below its bound gets gradients that raise it."""
    y = tf.contrib.layers.gdn(tf.constant(IMAGES), gamma_init=0.0)
    grads = tf.gradients([y, tf.reduce_sum(y)], tf.trainable_variables())
    grads += tf.gradients(-y, tf.trainable_variables())
    return _with_values(tf, [y, *grads])


def case_scaled_gradients(tf):
    x = tf.constant([1.0, 2.0])
    y = tf.contrib.layers.scale_gradient(x, 3.0)
    (grad,) = tf.gradients(y * y, x)
    z = tf.contrib.slim.scale_gradient(tf.constant([1.0], tf.float64), tf.constant(2.0, tf.float64))
    return [y.shape.as_list(), z.dtype.name, values(tf, [y, grad, z])]


def case_recomputed(tf):
    recompute = tf.contrib.layers.recompute_grad
    x = tf.constant(ONES)
    calls = []

    def network(x, is_recomputing=False):
        calls.append(is_recomputing)
        return tf.layers.dense(x, 3, name="d"), tf.sin(x)

    found, results = [], []
    for i, options in enumerate(
        ({}, {"use_data_dep": True}, {"tupleize_grads": True},
         {"use_data_dep": True, "tupleize_grads": True})
    ):  # fmt: skip
        with tf.variable_scope(f"s{i}", use_resource=True):
            y = recompute(**options)(network)(x)
        mine = tf.trainable_variables(f"s{i}")
        grads = tf.gradients([y[0], 2 * y[1]], [x] + mine)
        found.append([[t.name for t in y], names(mine)])
        results += [*y, *grads]
    y = recompute(lambda x: x * tf.square(x))(x)
    results += [y, *tf.gradients(y, x)]
    found += [calls, _with_values(tf, results)]
    outside, variable = tf.constant(2.0), tf.Variable(1.0)
    found.append(refused(lambda: recompute(lambda x: x * outside), "closes over Tensor"))
    found.append(refused(lambda: recompute(lambda x: x * variable)(x)))
    found.append(refused(lambda: recompute(lambda x: tf.layers.dense(x, 2))(x)))
    return found


def case_reversible(tf):
    layers = tf.contrib.layers
    x1, x2 = tf.constant(ONES, tf.float64), tf.constant(OTHERS, tf.float64)

    def f(x):
        return tf.layers.dense(x, 3, use_bias=False)

    def g(x):
        return tf.layers.dense(x, 3, activation=tf.tanh, use_bias=False)

    found, results = [], []
    for options in ({}, {"num_layers": 2}, {"num_layers": 2, "is_training": False}):
        before = len(tf.trainable_variables())
        y = layers.rev_block(x1, x2, f, g, **options)
        mine = tf.trainable_variables()[before:]
        found.append([[t.name for t in y], names(mine)])
        results += [*y, *tf.gradients([y[0], y[0] * y[1]], [x1, x2] + mine)]
    block = layers.RevBlock([f, g], [g, f], 2, name="block")
    y = block.forward(x1, x2)
    found.append([names(block.trainable_weights), block.num_layers, block.scope_name])
    results += [*y, *block.backward(*y)]
    found.append(_with_values(tf, results))
    found.append(refused(lambda: layers.rev_block(x1, x2, [f], [g], num_layers=2)))
    return found


def case_reversible_with_side_inputs(tf):
    """Their values; TensorFlow's gradients fail here."""
    x1, x2, side, other = (tf.constant(ONES * k) for k in (1, 2, 3, 4))

    def f(x, given):
        return tf.layers.dense(x * given[0], 3, use_bias=False) + given[1]

    def g(x, given):
        return tf.layers.dense(x, 3, use_bias=False) * given[0]

    y = tf.contrib.layers.rev_block(x1, x2, f, g, 2, [side, other], [other])
    return [names(tf.trainable_variables()), _with_values(tf, list(y))]
