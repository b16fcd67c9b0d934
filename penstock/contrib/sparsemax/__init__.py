"""``tf.contrib.sparsemax``: the projection of logits onto the simplex, and its loss."""

from penstock.contrib.sparsemax.projection import (
    sparsemax as sparsemax,
    sparsemax_loss as sparsemax_loss,
)
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
