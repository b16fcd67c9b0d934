"""What benchmarks set for their own processes does not stay with the tests after them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import penstock as tf


@pytest.fixture(autouse=True, scope="module")
def _same_verbosity() -> Iterator[None]:
    before = tf.logging.get_verbosity()
    yield
    tf.logging.set_verbosity(before)
