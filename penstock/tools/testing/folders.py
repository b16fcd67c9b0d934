"""Folders of tests.

State: the folder of this process, made when first asked for and deleted when it ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from functools import lru_cache


def get_temp_dir() -> str:
    """A folder for the files of tests, the same at each call; it is deleted at exit.

    It is inside ``TEST_TMPDIR`` where the environment says one.

    Returns:
      Its path.

    Example:
      >>> import penstock as tf
      >>> import os
      >>> os.path.isdir(tf.test.get_temp_dir())
      True
    """
    return _made()


@lru_cache(maxsize=1)
def _made() -> str:
    inside = os.environ.get("TEST_TMPDIR")
    if inside:
        os.makedirs(inside, exist_ok=True)
    program = os.path.splitext(os.path.basename(sys.argv[0] if sys.argv else ""))[0]
    made = tempfile.mkdtemp(prefix=program, dir=inside or None)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def test_src_dir_path(relative_path: str) -> str:
    """Where Bazel puts a source file of TensorFlow that a test asks for.

    Args:
      relative_path: relative to TensorFlow's root.

    Raises:
      KeyError: ``TEST_SRCDIR`` is not in the environment.
    """
    return os.path.join(os.environ["TEST_SRCDIR"], "org_tensorflow/tensorflow", relative_path)
