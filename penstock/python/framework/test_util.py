"""``from penstock.python.framework import test_util``."""

from penstock.testing.case import TestCase as _TensorFlowTestCase
from penstock.testing.cluster import create_local_cluster as create_local_cluster
from penstock.testing.devices import (
    gpu_device_name as gpu_device_name,
    is_gpu_available as is_gpu_available,
)
from penstock.testing.graphs import assert_equal_graph_def as assert_equal_graph_def

# To test runners the name of this file says that there are tests in it.
__test__: dict[str, str] = {}

TensorFlowTestCase = _TensorFlowTestCase
