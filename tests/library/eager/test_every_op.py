"""Every row of the op table whose inputs are values: a call gives what a session gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import make
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.library.eager.mode import Program
from tests.conformance.jobs import OPAQUE, base_name, build, run_built
from tests.conformance.peers import to_job
from tests.ops.cases import all_cases
from tests.ops.engine import BACKEND, allowed_dtypes, definition_of
from tests.ops.opcase import Bound, Input, OpCase
from tests.ops.tolerance import difference


def _is_called_on_values(case: OpCase) -> bool:
    definition = definition_of(case)
    plain = all(spec.how in ("feed", "const") for spec in case.specs)
    return (
        plain
        and not (case.raises or case.reason)
        and definition is not None
        and bool(definition.outputs)
        and not (definition.stateful or definition.role)
    )


ROWS = [
    (case, dtype)
    for case in all_cases()
    if _is_called_on_values(case)
    for dtype in allowed_dtypes(case)[:1]
]


def _tensor(item: Input) -> Any:
    value = BACKEND.to_const(item.value, item.dtype)
    return tf.constant(value, dtype=item.dtype, shape=item.value.shape)


def _called(bound: Bound) -> list[tuple[str, np.ndarray | None]]:
    inputs = [[_tensor(i) for i in x] if isinstance(x, list) else _tensor(x) for x in bound.inputs]
    flat = nest.flatten(make(bound.case.op, *inputs, **bound.attrs))
    names = [base_name(t.dtype) for t in flat]
    return [
        (name, None if name in OPAQUE else BACKEND.from_fetch(t.numpy(), name))
        for name, t in zip(names, flat, strict=True)
    ]


@pytest.mark.parametrize("row", ROWS, ids=[case.id for case, _ in ROWS])
def test_a_call_gives_what_a_session_gives(row: tuple[OpCase, str]) -> None:
    case = row[0]
    bound = case.bind(row[1])
    with tf.Graph().as_default(), tf.Session() as session:
        wanted = run_built(BACKEND, session, build(BACKEND, to_job(bound)))
    with default_graph_scope(Program()):
        for _ in range(2):  # the first call looks at the shapes, the second is short
            found = _called(bound)
            assert [name for name, _ in found] == [name for name, _ in wanted]
            for (name, one), (_, other) in zip(found, wanted, strict=True):
                if one is not None and other is not None:
                    assert difference(other, one, name, rtol=case.rtol, atol=case.atol) is None
