"""``from penstock.python.client import timeline``, in the place of TensorFlow 1's module."""

from penstock.profiler.timeline import (
    AllocationMaximum as AllocationMaximum,
    StepStatsAnalysis as StepStatsAnalysis,
    Timeline as Timeline,
)
