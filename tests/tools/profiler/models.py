"""Graphs whose costs are counted here and in TensorFlow 1.15 (hence Python 3.7's syntax).

Each function takes the `tf` module and builds a network with its training op in the default graph.
"""


def mnist_cnn(tf):
    x = tf.placeholder(tf.float32, [50, 784], name="x")
    labels = tf.placeholder(tf.float32, [50, 10], name="labels")
    net = tf.reshape(x, [-1, 28, 28, 1])
    for i, channels in enumerate((32, 64)):
        net = _conv(tf, net, 5, channels, 1, "SAME", f"conv{i}")
        net = tf.nn.max_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    net = tf.nn.relu(_dense(tf, tf.reshape(net, [-1, 7 * 7 * 64]), 1024, "fc1"))
    net = tf.nn.dropout(net, rate=0.5, seed=1)
    logits = _dense(tf, net, 10, "fc2")
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits))
    tf.argmax(tf.nn.softmax(logits), 1)
    tf.train.AdamOptimizer(1e-4).minimize(loss)


def alexnet(tf):
    net = tf.placeholder(tf.float32, [4, 67, 67, 3], name="images")
    net = _conv(tf, net, 11, 24, 4, "VALID", "conv1")
    net = tf.nn.lrn(net, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)
    net = tf.nn.max_pool(net, [1, 3, 3, 1], [1, 2, 2, 1], "VALID")
    net = _conv(tf, net, 5, 32, 1, "SAME", "conv2")
    net = tf.nn.avg_pool(net, [1, 3, 3, 1], [1, 2, 2, 1], "VALID")
    net = _conv(tf, net, 3, 48, 1, "SAME", "conv3")
    net = tf.reshape(net, [4, -1])
    logits = _dense(tf, net, 20, "fc")
    labels = tf.constant([1, 2, 3, 4])
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    decay = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss + 5e-4 * decay)


def lstm(tf):
    size, steps, batch = 16, 5, 8
    inputs = tf.placeholder(tf.float32, [steps, batch, size], name="inputs")
    kernel = tf.get_variable("kernel", [2 * size, 4 * size])
    bias = tf.get_variable("bias", [4 * size], initializer=tf.zeros_initializer())
    state = output = tf.zeros([batch, size])
    outputs = []
    for step in tf.unstack(inputs):
        gates = tf.nn.bias_add(tf.matmul(tf.concat([step, output], 1), kernel), bias)
        i, j, f, o = tf.split(gates, 4, axis=1)
        state = tf.sigmoid(f + 1.0) * state + tf.sigmoid(i) * tf.tanh(j)
        output = tf.tanh(state) * tf.sigmoid(o)
        outputs.append(output)
    logits = _dense(tf, tf.concat(outputs, 0), 30, "softmax")
    loss = tf.reduce_sum(tf.square(logits)) / batch
    variables = tf.trainable_variables()
    grads, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    tf.train.GradientDescentOptimizer(1.0).apply_gradients(zip(grads, variables))


def mixed(tf):
    """Op types that the networks lack."""
    a = tf.placeholder(tf.float32, [3, 4], name="a")
    image = tf.placeholder(tf.float32, [2, 8, 8, 3], name="image")
    w = tf.get_variable("w", [4, 5], use_resource=True)
    tf.get_variable("scalar", initializer=1.0)
    for f in (tf.reciprocal, tf.square, tf.rsqrt, tf.log, tf.negative, tf.nn.softmax):
        f(a)
    for f in (tf.subtract, tf.multiply, tf.divide, tf.maximum, tf.minimum, tf.pow, tf.greater,
              tf.greater_equal, tf.less, tf.less_equal, tf.squared_difference):  # fmt: skip
        f(a, a[0])
    tf.not_equal(a, a), tf.equal(a, a)
    tf.reduce_mean(a, 0), tf.reduce_sum(a), tf.argmax(a, 1), tf.argmin(a, 0)
    tf.matmul(a, a, transpose_a=True), tf.matmul(a, w)
    tf.nn.depthwise_conv2d(image, tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "SAME")
    tf.gradients(tf.nn.avg_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), image)
    tf.gradients(tf.rsqrt(a), a)
    strided = tf.nn.conv2d(image, tf.ones([3, 3, 3, 7]), strides=[1, 2, 2, 1], padding="SAME")
    tf.gradients(strided, image)


MODELS = {"mnist_cnn": mnist_cnn, "alexnet": alexnet, "lstm": lstm, "mixed": mixed}


def _conv(tf, net, size, channels, stride, padding, name):
    with tf.variable_scope(name):
        shape = [size, size, net.shape.as_list()[-1], channels]
        w = tf.get_variable("w", shape, initializer=tf.truncated_normal_initializer(stddev=0.1))
        b = tf.get_variable("b", [channels], initializer=tf.constant_initializer(0.1))
        net = tf.nn.conv2d(net, w, strides=[1, stride, stride, 1], padding=padding)
        return tf.nn.relu(tf.nn.bias_add(net, b))


def _dense(tf, net, units, name):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [net.shape.as_list()[-1], units])
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        return tf.nn.bias_add(tf.matmul(net, w), b)


def counts(tf, graph):
    """Parameters, and float operations by op type, as `tf.profiler` counts them."""
    builder = tf.profiler.ProfileOptionBuilder
    quiet = {"output": "none"}
    params = tf.profiler.profile(
        graph, options=dict(builder.trainable_variables_parameter(), **quiet)
    )
    flops = dict(builder.float_operation(), **quiet)
    scopes = tf.profiler.profile(graph, options=flops)
    operations = tf.profiler.profile(graph, cmd="op", options=flops)
    by_type = {}
    node = operations
    while node.children:
        node = node.children[0]
        by_type[node.name] = node.float_ops
    return {
        "parameters": params.total_parameters,
        "definitions": params.total_definition_count,
        "float_ops": scopes.total_float_ops,
        "by_type": by_type,
    }
