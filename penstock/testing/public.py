"""The names of ``tf.test``."""

from unittest import mock

from penstock.testing.benchmark import Benchmark, benchmark_config
from penstock.testing.case import TestCase
from penstock.testing.cluster import create_local_cluster
from penstock.testing.devices import (
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_gpu_available,
)
from penstock.testing.folders import get_temp_dir, test_src_dir_path
from penstock.testing.gradient_checker import compute_gradient, compute_gradient_error
from penstock.testing.graphs import assert_equal_graph_def
from penstock.testing.main import main
from penstock.testing.stubs import StubOutForTesting

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
