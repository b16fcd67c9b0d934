"""Signatures and attr lines are parsed into records, or refused with what was expected."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.foundation.base import dtypes
from penstock.foundation.opdef.opdef import REQUIRED
from penstock.foundation.opdef.parsing import parse_arg, parse_attr, parse_signature


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x: T", {"type_attr": "T"}),
        ("axis: int32", {"dtype": dtypes.int32}),
        ("values: N * T", {"number_attr": "N", "type_attr": "T"}),
        ("shape: N * int32", {"number_attr": "N", "dtype": dtypes.int32}),
        ("ref: Ref(T)", {"type_attr": "T", "is_ref": True}),
        ("data: list(T)", {"type_list_attr": "T"}),
    ],
)
def test_arguments(text: str, said: dict[str, Any]) -> None:
    arg = parse_arg(text)
    assert arg.name == text.partition(":")[0]
    for field in ("dtype", "type_attr", "number_attr", "type_list_attr", "is_ref"):
        assert getattr(arg, field) == said.get(field, False if field == "is_ref" else None)
    assert arg.is_list == bool(said.keys() & {"number_attr", "type_list_attr"})


def test_sides_of_a_signature() -> None:
    inputs, outputs = parse_signature("a: T, b: N * T -> y: T, z: int64")
    assert [a.name for a in inputs] == ["a", "b"]
    assert [a.name for a in outputs] == ["y", "z"]
    assert parse_signature(" -> output: T")[0] == ()
    assert parse_signature("input: T -> ")[1] == ()


@pytest.mark.parametrize("text", ["x", "x T", "x: T y"])
def test_malformed_arguments_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="malformed argument .*expected 'name:"):
        parse_arg(text)


def test_a_signature_needs_an_arrow() -> None:
    with pytest.raises(ValueError, match="'a: T' has no '->'"):
        parse_signature("a: T")


@pytest.mark.parametrize(
    ("text", "kind", "default"),
    [
        ("n: int", "int", REQUIRED),
        ("n: int = 3", "int", 3),
        ("rate: float = 1", "float", 1.0),
        ("keep: bool = false", "bool", False),
        ("name: string = ''", "string", ""),
        ("shape: shape = None", "shape", None),
        ("dims: list(int) = [1, -1]", "list(int)", [1, -1]),
        ("T: {float, int32} = float", "type", dtypes.float32),
        ("padding: {'SAME', 'VALID'} = 'SAME'", "string", "SAME"),
    ],
)
def test_attrs(text: str, kind: str, default: Any) -> None:
    attr = parse_attr(text)
    assert attr.kind == kind
    assert attr.default == default and type(attr.default) is type(default)


def test_allowed_values_and_least_values() -> None:
    assert parse_attr("T: {float, int32}").allowed == {dtypes.float32, dtypes.int32}
    assert parse_attr("p: {'A', 'B'}").allowed == {"A", "B"}
    attr = parse_attr("N: int >= 2")
    assert attr.minimum == 2 and attr.default is REQUIRED and attr.allowed is None


def test_malformed_attrs_are_refused() -> None:
    with pytest.raises(ValueError, match="malformed attr"):
        parse_attr("no kind at all")
