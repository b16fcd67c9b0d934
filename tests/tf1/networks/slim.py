"""Networks made with ``tf.contrib.slim``: its own, and two in the idioms of those beside it."""

from tests.tf1.networks.observe import classes, classified, numbers


def _net(tf, module, name, size, scope, **arguments):
    from importlib import import_module

    found = getattr(import_module(tf.__name__ + ".contrib.slim.nets"), module)
    images = tf.placeholder(tf.float32, [None, size, size, 3])
    with tf.contrib.slim.arg_scope(getattr(found, scope)()):
        logits, _ = getattr(found, name)(images, num_classes=5, **arguments)
    if logits.shape.ndims == 4:
        logits = tf.squeeze(logits, [1, 2])
    return classified(tf, {images: numbers([2, size, size, 3])}, logits, classes(5, 2))


def alexnet(tf):
    return _net(tf, "alexnet", "alexnet_v2", 224, "alexnet_v2_arg_scope", is_training=False)


def vgg_a(tf):
    return _net(tf, "vgg", "vgg_a", 224, "vgg_arg_scope", is_training=False)


def inception_v1(tf):
    return _net(tf, "inception", "inception_v1", 224, "inception_v1_arg_scope", is_training=False)


def inception_v2(tf):
    return _net(tf, "inception", "inception_v2", 224, "inception_v2_arg_scope", is_training=False)


def inception_v3(tf):
    return _net(tf, "inception", "inception_v3", 299, "inception_v3_arg_scope", is_training=False)


def resnet_v1_50(tf):
    return _net(tf, "resnet_v1", "resnet_v1_50", 64, "resnet_arg_scope", is_training=False)


def resnet_v1_101(tf):
    return _net(tf, "resnet_v1", "resnet_v1_101", 64, "resnet_arg_scope", is_training=False)


def resnet_v2_50(tf):
    return _net(tf, "resnet_v2", "resnet_v2_50", 64, "resnet_arg_scope", is_training=False)


# ---- in the idioms of slim's other networks ------------------------------------------------------


def mobilenet_like(tf):
    """Depthwise and pointwise convolutions with batch norm, each in the way of MobileNet v1."""
    slim = tf.contrib.slim
    images = tf.placeholder(tf.float32, [None, 32, 32, 3])
    norm = {"center": True, "scale": True, "decay": 0.9997, "epsilon": 0.001, "is_training": True}
    with slim.arg_scope(
        [slim.conv2d, slim.separable_conv2d],
        weights_initializer=tf.truncated_normal_initializer(stddev=0.09),
        activation_fn=tf.nn.relu6,
        normalizer_fn=slim.batch_norm,
        normalizer_params=norm,
    ):
        found = slim.conv2d(images, 8, [3, 3], stride=2, scope="Conv2d_0")
        for number, (depth, stride) in enumerate([(16, 1), (32, 2), (32, 1)], 1):
            scope = f"Conv2d_{number}_"
            found = slim.separable_conv2d(found, None, [3, 3], depth_multiplier=1, stride=stride,
                                          scope=scope + "depthwise")  # fmt: skip
            found = slim.conv2d(found, depth, [1, 1], scope=scope + "pointwise")
    found = slim.avg_pool2d(found, [8, 8], padding="VALID")
    logits = slim.conv2d(found, 5, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
    logits = tf.squeeze(logits, [1, 2])
    return classified(tf, {images: numbers([4, 32, 32, 3])}, logits, classes(5, 4))


def inception_v4_like(tf):
    """Branches that are joined, with pairs of 1 x 7 and 7 x 1, in the way of Inception v4."""
    slim = tf.contrib.slim
    images = tf.placeholder(tf.float32, [None, 35, 35, 3])
    norm = {"decay": 0.9997, "epsilon": 0.001, "is_training": True}
    scope = slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, normalizer_params=norm,
                           weights_regularizer=slim.l2_regularizer(4e-5))  # fmt: skip
    same = slim.arg_scope([slim.conv2d, slim.max_pool2d, slim.avg_pool2d], padding="SAME")
    with scope, same:
        found = slim.conv2d(images, 8, [3, 3], stride=2, padding="VALID", scope="Stem")
        with tf.variable_scope("Mixed", values=[found]):
            with tf.variable_scope("Branch_0"):
                first = slim.conv2d(found, 8, [1, 1], scope="Conv2d_0a_1x1")
            with tf.variable_scope("Branch_1"):
                second = slim.conv2d(found, 6, [1, 1], scope="Conv2d_0a_1x1")
                second = slim.conv2d(second, 6, [1, 7], scope="Conv2d_0b_1x7")
                second = slim.conv2d(second, 8, [7, 1], scope="Conv2d_0c_7x1")
            with tf.variable_scope("Branch_2"):
                third = slim.avg_pool2d(found, [3, 3], stride=1, scope="AvgPool_0a_3x3")
                third = slim.conv2d(third, 4, [1, 1], scope="Conv2d_0b_1x1")
            found = tf.concat([first, second, third], 3)
        found = tf.reduce_mean(found, [1, 2], keepdims=True)
    logits = slim.fully_connected(slim.flatten(found), 5, activation_fn=None, scope="Logits")
    return classified(tf, {images: numbers([4, 35, 35, 3])}, logits, classes(5, 4))


NETWORKS = {
    function.__name__: function
    for function in (
        alexnet, vgg_a, inception_v1, inception_v2, inception_v3, resnet_v1_50, resnet_v1_101,
        resnet_v2_50, mobilenet_like, inception_v4_like,
    )
}  # fmt: skip
