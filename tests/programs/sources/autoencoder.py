"""A convolutional autoencoder: transposed convolutions decode, tied dense weights; Adadelta."""


def build(tf, np):
    draw = np.random.RandomState(14)
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    kernel = tf.Variable((draw.randn(3, 3, 1, 4) * 0.3).astype("float32"), name="kernel")
    code_w = tf.Variable((draw.randn(64, 10) * 0.2).astype("float32"), name="code_w")
    with tf.name_scope("encoder"):
        hidden = tf.nn.elu(tf.nn.conv2d(images, kernel, [1, 2, 2, 1], "SAME"))
        code = tf.nn.sigmoid(tf.matmul(tf.reshape(hidden, [-1, 64]), code_w), name="code")
    with tf.name_scope("decoder"):
        unpacked = tf.nn.softplus(tf.matmul(code, code_w, transpose_b=True))
        unpacked = tf.reshape(unpacked, [-1, 4, 4, 4])
        shape = tf.stack([tf.shape(images)[0], 8, 8, 1])
        decoded = tf.nn.conv2d_transpose(unpacked, kernel, shape, [1, 2, 2, 1])
        decoded = tf.nn.leaky_relu(decoded, alpha=0.1)
    loss = tf.reduce_mean(tf.squared_difference(images, decoded))
    sparsity = tf.reduce_mean(tf.abs(code), axis=0)
    loss += 0.01 * tf.reduce_sum(sparsity * tf.log(sparsity / 0.05))
    train = tf.train.AdadeltaOptimizer(1.0, 0.95, 1e-3).minimize(loss)
    feeds = [{images: draw.rand(5 + i % 2, 8, 8, 1)} for i in range(8)]
    return {"loss": loss, "train": train, "feeds": feeds, "final": {"code": code}}
