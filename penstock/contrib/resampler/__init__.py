"""``tf.contrib.resampler``: explicit re-exports, no logic."""

from penstock.ops.image.image_resampler import resampler as resampler
