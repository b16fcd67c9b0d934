"""The networks of ``tf.contrib.slim.nets``, for Penstock and TensorFlow 1.15 (see ``programs``)."""


def _made(tf, module, name, size, scope=None, **arguments):
    from importlib import import_module

    nets = import_module(tf.__name__ + ".contrib.slim.nets")
    images = tf.placeholder(tf.float32, [None, size, size, 3])
    found = getattr(nets, module)
    if scope is None:
        scope = name + "_arg_scope"
    with tf.contrib.slim.arg_scope(getattr(found, scope)()):
        logits, ends = getattr(found, name)(images, **arguments)
    return [logits] + [
        tf.identity(ends[key], name="end_" + key.replace("/", "-").replace(":", "_"))
        for key in ends
    ]


def alexnet(tf):
    return _made(tf, "alexnet", "alexnet_v2", 224, num_classes=7)


def alexnet_serving(tf):
    return _made(tf, "alexnet", "alexnet_v2", 300, is_training=False, spatial_squeeze=False)


def overfeat(tf):
    return _made(tf, "overfeat", "overfeat", 231, num_classes=7)


def vgg_a(tf):
    return _made(tf, "vgg", "vgg_a", 224, "vgg_arg_scope", num_classes=7)


def vgg_16(tf):
    return _made(tf, "vgg", "vgg_16", 224, "vgg_arg_scope", is_training=False)


def vgg_19(tf):
    return _made(tf, "vgg", "vgg_19", 224, "vgg_arg_scope")


def resnet_v1_50(tf):
    return _made(tf, "resnet_v1", "resnet_v1_50", 224, "resnet_arg_scope", num_classes=7)


def resnet_v1_50_rated(tf):
    return _made(
        tf,
        "resnet_v1",
        "resnet_v1_50",
        97,
        "resnet_arg_scope",
        output_stride=8,
        global_pool=False,
        is_training=False,
    )


def resnet_v1_101(tf):
    return _made(tf, "resnet_v1", "resnet_v1_101", 224, "resnet_arg_scope")


def resnet_v1_152(tf):
    return _made(tf, "resnet_v1", "resnet_v1_152", 224, "resnet_arg_scope", num_classes=1000)


def resnet_v1_200(tf):
    return _made(tf, "resnet_v1", "resnet_v1_200", 224, "resnet_arg_scope")


def resnet_v2_50(tf):
    return _made(tf, "resnet_v2", "resnet_v2_50", 224, "resnet_arg_scope", num_classes=7)


def resnet_v2_50_rated(tf):
    return _made(
        tf,
        "resnet_v2",
        "resnet_v2_50",
        97,
        "resnet_arg_scope",
        output_stride=16,
        global_pool=False,
        is_training=False,
    )


def resnet_v2_101(tf):
    return _made(tf, "resnet_v2", "resnet_v2_101", 224, "resnet_arg_scope")


def resnet_v2_152(tf):
    return _made(tf, "resnet_v2", "resnet_v2_152", 224, "resnet_arg_scope", num_classes=1000)


def resnet_v2_200(tf):
    return _made(tf, "resnet_v2", "resnet_v2_200", 224, "resnet_arg_scope")


def inception_v1(tf):
    return _made(tf, "inception", "inception_v1", 224, num_classes=7)


def inception_v2(tf):
    return _made(tf, "inception", "inception_v2", 224, num_classes=7)


def inception_v2_narrow(tf):
    return _made(
        tf,
        "inception",
        "inception_v2",
        112,
        num_classes=7,
        depth_multiplier=0.5,
        is_training=False,
    )


def inception_v3(tf):
    return _made(tf, "inception", "inception_v3", 299, num_classes=7)


def inception_v3_small(tf):
    return _made(tf, "inception", "inception_v3", 150, is_training=False, depth_multiplier=0.3)


PROGRAMS = {
    key: value
    for key, value in list(globals().items())
    if callable(value) and not key.startswith("_")
}

# Values of networks are not compared: their weights are many, and their layers are tested alone.
GRAPHS_ALONE = True
