"""``tf.contrib.nn``: variants of ``tf.nn``'s functions."""

from penstock.contrib.nn.activation import (
    alpha_dropout as alpha_dropout,
    scaled_softplus as scaled_softplus,
)
from penstock.contrib.nn.flipped import *  # noqa: F403
from penstock.contrib.nn.sampling import (
    rank_sampled_softmax_loss as rank_sampled_softmax_loss,
    sampled_sparse_softmax_loss as sampled_sparse_softmax_loss,
)
from penstock.foundation.base import public_names
from penstock.library.nn.conv import conv1d_transpose as conv1d_transpose
from penstock.ops.array.sorting import nth_element as nth_element

__dir__ = public_names.listing(__name__)
