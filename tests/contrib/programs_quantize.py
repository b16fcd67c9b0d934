"""Programs of ``tf.contrib.quantize`` (``recorded``): rewritten graphs, and training them."""

import numpy as np

from tests.contrib.recorded import names, refused


def _norm(training, **more):
    return dict({"is_training": training, "fused": True, "decay": 0.9}, **more)


def mobile(tf, x, training):
    slim = tf.contrib.slim
    with slim.arg_scope([slim.conv2d, slim.separable_conv2d], activation_fn=tf.nn.relu6,
                        normalizer_fn=slim.batch_norm,
                        normalizer_params=_norm(training)):  # fmt: skip
        y = slim.conv2d(x, 4, [3, 3], scope="c1")
        y = slim.separable_conv2d(y, None, [3, 3], depth_multiplier=1, scope="dw")
        y = slim.conv2d(y, 4, [1, 1], scope="pw")
        y = slim.avg_pool2d(y, [8, 8])
    y = slim.conv2d(y, 5, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
    return tf.nn.softmax(tf.squeeze(y, [1, 2], name="squeezed"))


def residual(tf, x, training):
    slim = tf.contrib.slim
    with tf.variable_scope("block"):
        y = slim.conv2d(x, 4, [3, 3], scope="c1")
        z = slim.conv2d(y, 4, [3, 3], activation_fn=None, normalizer_fn=slim.batch_norm,
                        normalizer_params=_norm(training, scale=True), scope="c2")  # fmt: skip
        y = tf.nn.relu(y + z)
    with tf.variable_scope("other"):
        y = tf.add(slim.conv2d(y, 4, [3, 3], activation_fn=None, scope="c3"), y)
    left = slim.conv2d(y, 4, [3, 3], activation_fn=None, scope="left")
    right = slim.conv2d(y, 4, [3, 3], activation_fn=None, scope="right")
    y = slim.conv2d(tf.nn.relu(left + right), 4, [3, 3], scope="c4")
    return tf.identity(y, "out")


def layered(tf, x, training):
    y = tf.layers.conv2d(x, 4, 3, use_bias=False)
    y = tf.nn.relu(tf.layers.batch_normalization(y, training=training))
    y = tf.layers.flatten(tf.layers.conv2d(y, 4, 3, activation=tf.nn.relu))
    y = tf.layers.dense(y, 6, use_bias=False)
    y = tf.nn.relu(tf.layers.batch_normalization(y, training=training))
    return tf.layers.dense(y, 3, name="logits")


def plain(tf, x, _):
    weights = tf.get_variable("W", [3, 3, 3, 4])
    bias = tf.Variable(tf.zeros([4]), name="b")
    with tf.name_scope("conv"):
        y = tf.nn.relu(tf.nn.conv2d(x, weights, [1, 1, 1, 1], "SAME") + bias)
    y = tf.reshape(y, [2, -1])
    weights = tf.get_variable("W2", [256, 3], use_resource=True)
    return tf.matmul(y, weights) + tf.get_variable("b2", [3], use_resource=True)


def branches(tf, x, _):
    slim = tf.contrib.slim
    a, b = (slim.conv2d(x, 4, [3, 3], scope=name) for name in "ab")
    with tf.name_scope("join"):
        c = a + b
    e = slim.conv2d(tf.concat([a, c], 3), 4, [1, 1], scope="e", activation_fn=tf.nn.elu)
    f = slim.conv2d(e, 4, [1, 1], scope="f") * e
    tf.multiply(tf.reshape(f, [2, -1]), 2.0, name="reshaped")
    tf.add(tf.nn.max_pool(a, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), 1.0, name="pooled")
    tf.multiply(slim.avg_pool2d(a, [2, 2]), 2.0, name="averaged")
    tf.nn.relu(tf.multiply(a, x[:, :, :, :1], name="clipped"))
    return tf.add(f, 1.0, name="out")


def separable(tf, x, training):
    slim = tf.contrib.slim
    y = slim.separable_conv2d(x, 6, [3, 3], depth_multiplier=1, scope="sep",
                              normalizer_fn=slim.batch_norm,
                              normalizer_params=_norm(training))  # fmt: skip
    y = slim.separable_conv2d(y, 6, [3, 3], depth_multiplier=2, scope="sep2")
    return tf.nn.relu(slim.conv2d(y, 4, [1, 1], activation_fn=None, biases_initializer=None))


def unfused(tf, x, training):
    slim = tf.contrib.slim
    norm = _norm(training, fused=False, scale=True)
    with tf.variable_scope("net"):
        y = slim.conv2d(x, 4, [3, 3], scope="c1", normalizer_fn=slim.batch_norm,
                        normalizer_params=norm)  # fmt: skip
        y = slim.separable_conv2d(y, None, [3, 3], depth_multiplier=1, scope="dw",
                                  normalizer_fn=slim.batch_norm,
                                  normalizer_params=dict(norm, scale=False))  # fmt: skip
    y = slim.fully_connected(slim.flatten(y), 4, normalizer_fn=slim.batch_norm,
                             normalizer_params=norm, scope="fc")  # fmt: skip
    return slim.fully_connected(y, 4, activation_fn=None, scope="logits")


def dense(tf, x, training):
    slim = tf.contrib.slim
    y = slim.fully_connected(slim.flatten(x), 4, normalizer_fn=slim.batch_norm, scope="fc",
                             normalizer_params=_norm(training))  # fmt: skip
    return slim.fully_connected(y, 4, activation_fn=tf.nn.leaky_relu, scope="last")


NETS = [mobile, residual, layered, plain, branches, separable, unfused, dense]


def _wired(tf):
    """By name: type, inputs and control inputs of every node."""
    return {
        op.name: [op.type, [t.name for t in op.inputs], sorted(c.name for c in op.control_inputs)]
        for op in tf.get_default_graph().get_operations()
    }


def _rewritten(tf, net, training, rewrite):
    """The nodes that were made or changed, as one text each, and the variables."""
    with tf.Graph().as_default():
        net(tf, tf.placeholder(tf.float32, [2, 8, 8, 3], name="x"), training)
        before = _wired(tf)
        rewrite()
        made = {k: " ".join([v[0], *v[1], *("^" + c for c in v[2])])
                for k, v in _wired(tf).items() if before.get(k) != v}  # fmt: skip
        return [made, names(tf.global_variables()), names(tf.trainable_variables()),
                [op.name for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS)]]  # fmt: skip


def case_training_graphs(tf):
    return [_rewritten(tf, net, True, tf.contrib.quantize.create_training_graph) for net in NETS]


def case_eval_graphs(tf):
    return [_rewritten(tf, net, False, tf.contrib.quantize.create_eval_graph) for net in NETS]


def case_chosen_graphs(tf):
    quantize = tf.contrib.quantize

    def training():
        quantize.experimental_create_training_graph(
            None, 4, 7, symmetric=True, quant_delay=3, freeze_bn_delay=5)  # fmt: skip

    def within():
        quantize.experimental_create_eval_graph(scope="block", symmetric=True, weight_bits=5)

    def delayed():
        quantize.create_training_graph(quant_delay=2)

    return [
        _rewritten(tf, mobile, True, training), _rewritten(tf, unfused, True, training),
        _rewritten(tf, residual, False, within), _rewritten(tf, branches, True, delayed),
    ]  # fmt: skip


def _values_for(tf):
    """Variables set to draws by their names: the same in both."""
    sets = []
    for variable in tf.global_variables():
        random = np.random.RandomState(sum(map(ord, variable.op.name)))
        shape = variable.shape.as_list()
        if variable in tf.trainable_variables():
            sets.append(tf.assign(variable, random.uniform(-0.5, 0.5, shape).astype("float32")))
    return sets


def _losses(tf, net, steps=4, **how):
    with tf.Graph().as_default(), tf.Session() as sess:
        random = np.random.RandomState(1)
        x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
        outputs = net(tf, x, True)
        tf.contrib.quantize.experimental_create_training_graph(**how)
        # What the last op makes may have been rerouted; its consumers have not.
        loss = tf.reduce_mean(tf.square(outputs - 0.3))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        # Each in a step of its own: who reads an average in the step that moves it may see both.
        moves = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        sess.run(tf.global_variables_initializer())
        sess.run(_values_for(tf))
        found = []
        for _ in range(steps):
            feed = {x: random.uniform(-1, 1, [2, 8, 8, 3]).astype("float32")}
            found.append(sess.run([loss, step], feed)[0])
            for move in moves:
                sess.run(move, feed)
        moved = [v for v in tf.global_variables() if "quant" in v.name or "moving" in v.name]
        return [found, sess.run(moved)]


def case_losses(tf):
    return [_losses(tf, net) for net in (mobile, unfused, dense)]


def case_losses_of_residual(tf):
    return _losses(tf, residual)


def case_losses_with_delays(tf):
    return [_losses(tf, mobile, quant_delay=2), _losses(tf, mobile, freeze_bn_delay=3),
            _losses(tf, residual, symmetric=True)]  # fmt: skip


def case_losses_of_four_bits(tf):
    return _losses(tf, residual, steps=1, symmetric=True, weight_bits=4)


# A weight between two of the 15 levels falls to either, by the order that sums are taken in: with
# kernels for SSE one does, and the loss is another by 8e-4.
case_losses_of_four_bits.tolerance = {"rtol": 2e-3, "atol": 2e-5}
# So do TensorFlow 1.15's own, on processors with AVX-512 and without: its losses differ by 1e-2.
case_losses_of_residual.peer_tolerance = {"rtol": 2e-2, "atol": 2e-5}
case_losses_of_four_bits.peer_tolerance = {"rtol": 2e-2, "atol": 2e-5}


def case_refused(tf):
    quantize = tf.contrib.quantize
    x = tf.placeholder(tf.float32, [2, 8, 8, 3])
    loss = tf.reduce_mean(mobile(tf, x, True))
    tf.train.AdamOptimizer(0.1).minimize(loss)
    return [
        refused(
            quantize.create_training_graph, "Training op found in graph, exiting {'ApplyAdam'}"
        ),
        refused(quantize.create_eval_graph),
    ]
