"""``from penstock.python.platform import googletest``."""

from penstock.testing.public import (
    Benchmark,
    StubOutForTesting,
    TestCase,
    main,
    mock,
    test_src_dir_path,
)
from penstock.testing.public import get_temp_dir as GetTempDir

__all__ = [
    "Benchmark",
    "GetTempDir",
    "StubOutForTesting",
    "TestCase",
    "main",
    "mock",
    "test_src_dir_path",
]
