"""``tf.keras.datasets``: explicit re-exports, no logic."""

from penstock.api.keras.datasets import (
    boston_housing as boston_housing,
    cifar10 as cifar10,
    cifar100 as cifar100,
    fashion_mnist as fashion_mnist,
    imdb as imdb,
    mnist as mnist,
    reuters as reuters,
)
