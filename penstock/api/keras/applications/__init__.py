"""``tf.keras.applications``: known networks."""

from penstock.api.keras.applications import (
    densenet as densenet,
    imagenet_utils as imagenet_utils,
    inception_resnet_v2 as inception_resnet_v2,
    inception_v3 as inception_v3,
    mobilenet as mobilenet,
    mobilenet_v2 as mobilenet_v2,
    nasnet as nasnet,
    resnet as resnet,
    resnet50 as resnet50,
    resnet_v2 as resnet_v2,
    vgg16 as vgg16,
    vgg19 as vgg19,
    xception as xception,
)
from penstock.training.keras_models.applications import of_package

__getattr__, __dir__ = of_package()
