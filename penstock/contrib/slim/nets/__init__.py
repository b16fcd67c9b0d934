"""``tf.contrib.slim.nets``: published networks, with the names that their checkpoints have."""

from penstock.contrib.slim.nets import (
    alexnet as alexnet,
    inception as inception,
    inception_v1 as inception_v1,
    inception_v2 as inception_v2,
    inception_v3 as inception_v3,
    overfeat as overfeat,
    resnet_blocks,
    resnet_v1 as resnet_v1,
    resnet_v2 as resnet_v2,
    vgg as vgg,
)

resnet_utils = resnet_blocks
