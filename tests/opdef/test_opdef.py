"""define_op registers one definition and refuses what does not fit together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.base import dtypes
from penstock.opdef import define_op, registry
from penstock.opdef.opdef import call_kernel, torch_dtype_name


@pytest.fixture(autouse=True)
def _forget_ops() -> Iterator[None]:
    """Ops that a test defines go with it."""
    before = [dict(r._items) for r in (registry.OPS, registry.GRADIENTS)]
    yield
    for kept, items in zip((registry.OPS, registry.GRADIENTS), before, strict=True):
        kept._items.clear()  # type: ignore[attr-defined]
        kept._items.update(items)  # type: ignore[attr-defined]


def test_a_definition_says_what_was_given() -> None:
    op = define_op(
        "TestScale",
        "x: T, factors: N * T -> y: T",
        attrs=["T: {float, double}", "N: int >= 1", "power: int = 1"],
        kernel="{x} * {power}",
        no_gradient="a test",
        host=("factors",),
    )
    assert registry.lookup("TestScale") is op and registry.all_ops()["TestScale"] is op
    assert op.inferred_attrs == {"T", "N"}
    assert op.parameters == ("x", "power")
    assert op.pure and not op.passes_through and not op.has_list_output
    assert registry.GRADIENTS["TestScale"] is None


def test_writes_are_effects_and_not_pure() -> None:
    op = define_op("TestWrite", "ref: Ref(float) -> ", kernel="{ref}.clear()", writes=("ref",))
    assert op.effect and not op.pure


def test_a_name_is_defined_once() -> None:
    with pytest.raises(KeyError, match="'Identity' is already registered"):
        import penstock.ops  # noqa: F401  (registers Identity)

        define_op("Identity", "x: float -> y: float", kernel="{x}")


def test_arguments_name_declared_attrs() -> None:
    with pytest.raises(ValueError, match="TestBad: argument x: T names attr 'T'"):
        define_op("TestBad", "x: T -> y: T", kernel="{x}")
    assert "TestBad" not in registry.OPS


def test_kernel_parameters_are_inputs_attrs_or_state() -> None:
    with pytest.raises(ValueError, match=r"kernel of TestBad has parameter\(s\) \['z'\]"):
        define_op("TestBad", "x: float -> y: float", kernel=lambda x, z: x)
    with pytest.raises(ValueError, match=r"\['z'\]; allowed are \['state', 'x'\]"):
        define_op("TestBad", "x: float -> y: float", kernel="{x} + {z}")
    assert "TestBad" not in registry.OPS


def test_ops_that_do_not_exist() -> None:
    op = define_op("TestOne", "x: float -> y: float", kernel="{x}")
    assert op.passes_through
    with pytest.raises(LookupError, match="'TestOnee'; the nearest names are 'TestOne'"):
        registry.lookup("TestOnee")


def test_kernels_are_called_by_name() -> None:
    op = define_op("TestSum", "a: float, b: float -> y: float", kernel="{b} - {a}")
    assert call_kernel(op, {"a": 1, "b": 5}) == 4
    with pytest.raises(LookupError, match="op TestNone has no kernel"):
        call_kernel(define_op("TestNone", "a: float -> y: float"), {"a": 1})


def test_names_of_types_in_programs() -> None:
    assert torch_dtype_name(dtypes.float32) == "torch.float32"
    assert torch_dtype_name(dtypes.string) == "object"
