"""``tf.train.experimental``: training in mixed precision."""

from penstock.train.loss_scale import DynamicLossScale, FixedLossScale, LossScale
from penstock.train.loss_scale_optimizer import (
    MixedPrecisionLossScaleOptimizer,
    disable_mixed_precision_graph_rewrite,
    enable_mixed_precision_graph_rewrite,
)

__all__ = [
    "DynamicLossScale",
    "FixedLossScale",
    "LossScale",
    "MixedPrecisionLossScaleOptimizer",
    "disable_mixed_precision_graph_rewrite",
    "enable_mixed_precision_graph_rewrite",
]
