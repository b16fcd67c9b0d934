"""``tf.contrib.resampler``: explicit re-exports, no logic."""

from penstock.foundation.base import public_names
from penstock.ops.image.image_resampler import resampler as resampler

__dir__ = public_names.listing(__name__)
