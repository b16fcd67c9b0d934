"""``from penstock.python.framework import test_util``."""

from penstock.testing.case import TestCase as TensorFlowTestCase
from penstock.testing.cluster import create_local_cluster
from penstock.testing.devices import gpu_device_name, is_gpu_available
from penstock.testing.graphs import assert_equal_graph_def

# To test runners the name of this file says that there are tests in it.
__test__: dict[str, str] = {}

__all__ = [
    "TensorFlowTestCase",
    "assert_equal_graph_def",
    "create_local_cluster",
    "gpu_device_name",
    "is_gpu_available",
]
