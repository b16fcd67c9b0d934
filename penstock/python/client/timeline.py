"""``from penstock.python.client import timeline``, in the place of TensorFlow 1's module."""

from penstock.profiler.timeline import AllocationMaximum, StepStatsAnalysis, Timeline

__all__ = ["AllocationMaximum", "StepStatsAnalysis", "Timeline"]
