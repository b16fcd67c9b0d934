"""The names of ``tf.test``."""

from unittest import mock

from penstock.tools.testing.benchmark import Benchmark, benchmark_config
from penstock.tools.testing.case import TestCase
from penstock.tools.testing.cluster import create_local_cluster
from penstock.tools.testing.devices import (
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_gpu_available,
)
from penstock.tools.testing.folders import get_temp_dir, test_src_dir_path
from penstock.tools.testing.gradient_checker import compute_gradient, compute_gradient_error
from penstock.tools.testing.graphs import assert_equal_graph_def
from penstock.tools.testing.main import main
from penstock.tools.testing.stubs import StubOutForTesting

__all__ = [
    "Benchmark",
    "StubOutForTesting",
    "TestCase",
    "assert_equal_graph_def",
    "benchmark_config",
    "compute_gradient",
    "compute_gradient_error",
    "create_local_cluster",
    "get_temp_dir",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_gpu_available",
    "main",
    "mock",
    "test_src_dir_path",
]
