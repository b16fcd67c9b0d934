"""``tf.estimator.tpu``: the estimator of programs written for TPUs, on the CPUs and GPUs there are.

Only re-exports; ``tf.contrib.tpu`` has them too.
"""

from penstock.training.estimator.tpu.tpu_config import (
    InputPipelineConfig as InputPipelineConfig,
    RunConfig as RunConfig,
    TPUConfig as TPUConfig,
)
from penstock.training.estimator.tpu.tpu_estimator import TPUEstimator as TPUEstimator
from penstock.training.estimator.tpu.tpu_spec import TPUEstimatorSpec as TPUEstimatorSpec
