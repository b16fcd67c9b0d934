"""``tf.contrib.tpu``: programs written for TPUs, on the CPUs and GPUs there are.

What joins replicas and the scope of short floats are those of ``tf.tpu``, the estimator that of
``tf.estimator.tpu``.  What compiles for a TPU, or talks to one, is absent.
"""

from penstock.contrib.tpu import python as python
from penstock.foundation.base import public_names
from penstock.library.variables.bfloat16 import bfloat16_scope as bfloat16_scope
from penstock.training.estimator.tpu import (
    InputPipelineConfig as InputPipelineConfig,
    RunConfig as RunConfig,
    TPUConfig as TPUConfig,
    TPUEstimator as TPUEstimator,
    TPUEstimatorSpec as TPUEstimatorSpec,
)
from penstock.training.train.tpu import (
    CrossShardOptimizer as CrossShardOptimizer,
    cross_replica_sum as cross_replica_sum,
)

__dir__ = public_names.listing(__name__)
