"""``tf.contrib.mixed_precision``: losses scaled so that gradients of half precision do not vanish.

``managers`` say the scale, ``scaled`` is the optimizer.
"""

from penstock.contrib.mixed_precision.managers import (
    ExponentialUpdateLossScaleManager as ExponentialUpdateLossScaleManager,
    FixedLossScaleManager as FixedLossScaleManager,
    LossScaleManager as LossScaleManager,
)
from penstock.contrib.mixed_precision.scaled import LossScaleOptimizer as LossScaleOptimizer
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
