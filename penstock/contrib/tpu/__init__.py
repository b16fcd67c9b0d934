"""``tf.contrib.tpu``: programs written for TPUs, on the CPUs and GPUs there are.

``cross_shard`` has what joins replicas, ``bfloat16`` the scope of short floats; the estimator is
that of ``tf.estimator.tpu``.  What compiles for a TPU, or talks to one, is absent.
"""

from penstock.contrib.tpu import python as python
from penstock.contrib.tpu.bfloat16 import bfloat16_scope as bfloat16_scope
from penstock.contrib.tpu.cross_shard import (
    CrossShardOptimizer as CrossShardOptimizer,
    cross_replica_sum as cross_replica_sum,
)
from penstock.training.estimator.tpu import (
    InputPipelineConfig as InputPipelineConfig,
    RunConfig as RunConfig,
    TPUConfig as TPUConfig,
    TPUEstimator as TPUEstimator,
    TPUEstimatorSpec as TPUEstimatorSpec,
)
