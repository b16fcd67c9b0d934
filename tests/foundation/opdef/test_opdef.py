"""define_op registers one definition and refuses what does not fit together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import penstock as tf
from penstock.foundation.base import dtypes
from penstock.foundation.opdef import arithmetic, define_op, registry
from penstock.foundation.opdef.opdef import REQUIRED, call_kernel, torch_dtype_name


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


def test_what_an_op_is_for_is_asked_by_its_name_where_there_is_a_message_only() -> None:
    define_op("TestGate", "data: float, open: bool -> no: float, yes: float", control="switch")
    define_op("TestHolder", "-> ref: Ref(float)", role="variable")
    assert registry.control_of("TestGate") == "switch" and registry.role_of("TestGate") is None
    assert registry.role_of("TestHolder") == "variable"
    assert registry.control_of("Unheard") is None and registry.role_of("Unheard") is None


def test_both_forms_of_an_op_are_of_one_kind() -> None:
    known = registry.all_ops()
    twins = [name for name in known if f"Ref{name}" in known]
    assert len(twins) == 6
    for name in twins:
        op, twin = known[name], known[f"Ref{name}"]
        assert op.control == twin.control and op.role == twin.role and op.moves and twin.moves


def test_work_is_the_float_operations_unless_said() -> None:
    flops, work = arithmetic.each_output(1), arithmetic.each_output(2)
    assert define_op("TestPlain", "x: float -> y: float", flops=flops).work is flops
    silent = define_op("TestSilent", "x: float -> y: float", work=work)
    assert silent.flops is None and silent.work is work


def test_attrs_of_a_later_release_are_parsed_as_the_others() -> None:
    op = define_op("TestNew", "x: float -> y: float", later=["hint: bool", "mode: string = ''"])
    assert op.later["hint"].default is REQUIRED and op.later["mode"].default == ""
    assert not op.attrs


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


def test_definitions_say_what_programs_ask_of_a_nodes_type() -> None:
    """``op.op_def.is_stateful``, as TensorFlow 1.15 has it."""
    with tf.Graph().as_default():
        drawn = tf.random.poisson(1.0, [2])
        made = tf.multiply(1.0, 2.0), drawn, tf.get_variable("v", []), tf.constant(1)
    stateful = [each.op.op_def.is_stateful for each in made]
    assert stateful == [False, True, True, False]
