"""Programs of ``tf.layers``: batch normalization."""

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def _image(tf):
    return tf.placeholder(tf.float32, [None, 4, 4, 3])


def _table(tf):
    return tf.placeholder(tf.float32, [None, 5])


def _norm(shape, **arguments):
    def made(tf):
        return tf.layers.batch_normalization(tf.placeholder(tf.float32, shape), **arguments)

    return made


for _name, _shape in [("image", [None, 4, 4, 3]), ("table", [None, 5]), ("sequence", [None, 4, 3])]:
    PROGRAMS[_name + "_inference"] = _norm(_shape)
    PROGRAMS[_name + "_training"] = _norm(_shape, training=True)
    PROGRAMS[_name + "_no_scale"] = _norm(_shape, training=True, scale=False, momentum=0.9)
    PROGRAMS[_name + "_no_center"] = _norm(_shape, center=False, name="bn", epsilon=1e-5)
    PROGRAMS[_name + "_frozen"] = _norm(_shape, training=True, trainable=False)
    PROGRAMS[_name + "_renorm"] = _norm(_shape, training=True, renorm=True)
    PROGRAMS[_name + "_unfused"] = _norm(_shape, training=True, fused=False, name="u")
    PROGRAMS[_name + "_virtual"] = _norm(_shape, training=True, virtual_batch_size=3)
PROGRAMS["axis_1"] = _norm([None, 4, 3], axis=1, training=True)
PROGRAMS["axes"] = _norm([None, 4, 3], axis=[1, 2], training=True)
PROGRAMS["error_axis"] = _norm([None, 4], axis=3)
PROGRAMS["error_axis_type"] = _norm([None, 4], axis="last")
PROGRAMS["error_open"] = _norm([None, None])
PROGRAMS["error_duplicate"] = _norm([None, 4, 3], axis=[1, -2])
PROGRAMS["error_clipping"] = _norm([None, 4, 3], renorm=True, renorm_clipping={"most": 3})
PROGRAMS["error_virtual"] = _norm([None, 4, 3], virtual_batch_size=0)


@program
def image_of_placeholder(tf):
    training = tf.placeholder(tf.bool, [], name="training")
    return tf.layers.batch_normalization(_image(tf), training=training)


@program
def table_of_placeholder(tf):
    training = tf.placeholder(tf.bool, [], name="training")
    return tf.layers.batch_normalization(_table(tf), training=training)


@program
def renorm_of_placeholder(tf):
    training = tf.placeholder(tf.bool, [], name="training")
    clipping = {"rmax": 3.0, "rmin": 0.3, "dmax": 5.0}
    return tf.layers.batch_normalization(
        _table(tf), training=training, renorm=True, renorm_clipping=clipping
    )


@program
def adjusted(tf):
    def adjustment(shape):
        return tf.ones([shape[0], 1]) * 0.5, tf.ones([shape[0], 1]) * 0.25

    return tf.layers.batch_normalization(_table(tf), training=True, adjustment=adjustment)


@program
def regularized(tf):
    return tf.layers.batch_normalization(
        _table(tf), training=True, beta_regularizer=tf.nn.l2_loss, gamma_regularizer=tf.nn.l2_loss,
        gamma_constraint=tf.abs,
    )  # fmt: skip


@program
def shared(tf):
    x = _table(tf)
    a = tf.layers.batch_normalization(x, training=True, name="bn")
    b = tf.layers.batch_normalization(x * 2.0, training=True, name="bn", reuse=True)
    layer = tf.layers.BatchNormalization()
    c = layer(x, training=True)
    d = layer(x * 2.0, training=False)
    assert len(layer.get_updates_for(x)) == 2, layer.updates
    assert not layer.get_updates_for(None)
    return a, b, c, d


@program
def partitioned(tf):
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        return tf.layers.batch_normalization(_table(tf), training=False, fused=False)


@program
def half(tf):
    x = tf.cast(_table(tf), tf.float16)
    return tf.cast(tf.layers.batch_normalization(x, training=True), tf.float32)


@program
def trained(tf):
    x = _image(tf)
    h = tf.layers.conv2d(x, 4, 3, use_bias=False)
    h = tf.nn.relu(tf.layers.batch_normalization(h, training=True))
    loss = tf.reduce_mean(tf.square(h))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([step]):
        return tf.identity(loss)
