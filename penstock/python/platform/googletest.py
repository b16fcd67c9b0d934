"""``from penstock.python.platform import googletest``."""

from penstock.testing.public import (
    Benchmark as Benchmark,
    StubOutForTesting as StubOutForTesting,
    TestCase as TestCase,
    get_temp_dir as _GetTempDir,
    main as main,
    mock as mock,
    test_src_dir_path as test_src_dir_path,
)

GetTempDir = _GetTempDir
