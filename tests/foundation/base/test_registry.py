"""Registries are written once a name, and suggest names."""

from __future__ import annotations

import pytest

from penstock.foundation.base.registry import Registry


@pytest.fixture
def colours() -> Registry[int | None]:
    registry: Registry[int | None] = Registry("colour")
    registry.register("red", 1)
    registry.register("none", None)
    return registry


def test_reads_as_a_mapping(colours: Registry[int | None]) -> None:
    assert colours["red"] == 1
    assert list(colours) == ["red", "none"] and len(colours) == 2
    assert "red" in colours and "blue" not in colours


def test_a_name_is_written_once(colours: Registry[int | None]) -> None:
    with pytest.raises(KeyError, match="colour 'red' is already registered"):
        colours.register("red", 2)
    assert colours["red"] == 1


def test_a_missing_name_suggests_the_nearest(colours: Registry[int | None]) -> None:
    with pytest.raises(LookupError, match="no colour is registered as 'rde'.*'red'"):
        colours["rde"]
    with pytest.raises(LookupError, match="nearest names are none"):
        colours["xyzzy"]


def test_none_may_be_an_item(colours: Registry[int | None]) -> None:
    assert colours["none"] is None and "none" in colours
    assert "blue" not in colours
