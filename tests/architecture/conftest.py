"""Settings of the room: the package's syntax trees are dropped when its tests are through."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.architecture import modules


@pytest.fixture(scope="package", autouse=True)
def trees_for_these_tests() -> Iterator[None]:
    """They are two million objects: as long as they live, every look for garbage sees them all."""
    yield
    modules.tree.cache_clear()
