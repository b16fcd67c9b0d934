"""Every registered op says everything: shape rule, kernel, gradient or reason, and is tested."""

from __future__ import annotations

import pytest

import penstock as tf
import penstock.compiler.passes.pipeline  # defines the op types of steps
from penstock.foundation.opdef import registry
from tests.ops.cases import all_cases
from tests.ops.coverage_reasons import WITHOUT_KERNEL, WITHOUT_ROW

assert tf.Graph  # importing the package registers every op
OPS = registry.all_ops()
ROWS = {case.op for case in all_cases()}


def test_ops_are_registered() -> None:
    assert len(OPS) > 100


@pytest.mark.parametrize("name", sorted(OPS))
def test_op_is_complete(name: str) -> None:
    op = OPS[name]
    missing = []
    if op.shape is None:
        missing.append("a shape rule")
    ways = (op.kernel, op.template, op.inline, op.state, WITHOUT_KERNEL.get(name))
    if all(way is None for way in ways):
        missing.append("a kernel")
    if op.gradient is None and not op.no_gradient and name not in registry.GRADIENTS:
        missing.append("a gradient or a stated reason for none")
    if not op.internal and name not in ROWS and name not in WITHOUT_ROW:
        missing.append("a row in tests/ops/cases or a reason in tests/ops/coverage_reasons.py")
    assert not missing, f"{name} lacks " + ", ".join(missing)


def test_rows_name_registered_ops() -> None:
    assert not ROWS - set(OPS)


def test_reasons_are_current() -> None:
    """A reason outlives neither its op nor the lack of a row."""
    assert not set(WITHOUT_ROW) & ROWS
    assert not set(WITHOUT_ROW) - set(OPS)
