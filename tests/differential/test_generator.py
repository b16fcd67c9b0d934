"""Calls are the same each time, differ from one another, and say what was asked for."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.conformance.jobs import unpack
from tests.differential.__main__ import of_shard, shown
from tests.differential.args import Arg
from tests.differential.calls import MODULES, all_calls
from tests.differential.generator import FLOATS, INTEGERS, cases, cast

ROWS = all_calls()


def test_there_are_rows_enough() -> None:
    assert len(ROWS) > 600
    names = [row.name for module in MODULES for row in module.CALLS]
    assert len(names) == len(set(names)), [n for n in names if names.count(n) > 1]


def test_shards_together_are_all_rows() -> None:
    rows = list(ROWS.values())
    found = [row.name for shard in range(1, 8) for row in of_shard(rows, shard, 7)]
    assert sorted(found) == sorted(ROWS)


@pytest.mark.parametrize("name", ["reduce_sum", "gather", "sparse.add", "strings.join", "map_fn"])
def test_a_seed_is_a_set_of_calls(name: str) -> None:
    first, second = cases(ROWS[name], 3, 200), cases(ROWS[name], 3, 200)
    assert len(first) == 200 and pickle.dumps(first) == pickle.dumps(second)
    assert len({repr((c["args"], c["kwargs"])) for c in first}) == 200
    other = cases(ROWS[name], 4, 200)
    assert [c["id"] for c in first] != [c["id"] for c in other]


@pytest.mark.long
def test_every_row_gives_calls_that_can_be_written_and_read() -> None:
    for row in ROWS.values():
        found = cases(row, 1, 5)
        assert found and repr(pickle.loads(pickle.dumps(found, protocol=4))) == repr(found)
        assert all(shown(case).startswith(row.name) for case in found)


def _tensors(name: str, number: int) -> list[dict]:
    return [c["args"][number] for c in cases(ROWS[name], 0, 400) if "dtype" in c["args"][number]]


def test_where_a_rank_must_be_known_it_is() -> None:
    given = _tensors("metrics.mean_iou", 0)
    assert {g["k"] for g in given} == {"const", "feed"}
    statics = [g["static"] for g in given if g["k"] == "feed"]
    assert None not in statics and any(None in static for static in statics)


def test_everything_varies() -> None:
    given = _tensors("gather", 0)
    assert {g["k"] for g in given} == {"np", "const", "feed"}
    dtypes = {g["dtype"] for g in given}
    assert dtypes >= {*FLOATS, "bool", "string"} and len(dtypes & {*INTEGERS}) >= 5
    fed = [g for g in given if g["k"] == "feed"]
    assert any(g["static"] is None for g in fed)
    assert any(g["static"] == g["v"]["shape"] != [] for g in fed)
    assert any(g["static"] is not None and None in g["static"] for g in fed)
    shapes = [tuple(g["v"]["shape"]) for g in given]
    assert {len(s) for s in shapes} >= {0, 1, 2, 3} and any(0 in s for s in shapes)
    values = np.concatenate([unpack(g["v"]).ravel() for g in given if g["dtype"] == "float32"])
    assert np.isnan(values).any() and np.isinf(values).any() and (values == 0).any()
    axes = [c["args"][1]["v"] for c in cases(ROWS["reduce_sum"], 0, 400) if "dtype" not in
            c["args"][1]]  # fmt: skip
    assert {-5, -1, 0, 1, 100} <= {a for a in axes if isinstance(a, int)}
    assert None in axes and [0, 0] in axes


def test_the_first_call_is_the_row() -> None:
    first = cases(ROWS["reduce_sum"], 0, 1)[0]
    assert [a["k"] for a in first["args"]] == ["const", "py"]
    assert first["args"][0]["v"]["shape"] == [2, 3, 2]


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool", "complex64", "string"])
def test_casts_keep_shapes_and_raise_no_warnings(dtype: str) -> None:
    for array in (
        np.array([[np.nan, np.inf, -3e38]], np.float32), np.array(-4, np.int32),
        np.array([b"a", b""], object), np.zeros((0, 2), np.complex64), np.array([True]),
    ):  # fmt: skip
        made = cast(array, dtype)
        assert made.shape == array.shape
        assert made.dtype == (object if dtype == "string" else
                              "float32" if dtype == "bfloat16" else dtype)  # fmt: skip


def test_an_argument_of_a_row_is_of_a_known_kind() -> None:
    kinds: set[str] = set()

    def walk(arg: Arg) -> None:
        kinds.add(arg.kind)
        for part in arg.parts:
            walk(part)

    for row in ROWS.values():
        for arg in (*row.args, *row.kwargs.values()):
            walk(arg)
    assert kinds == {
        "real", "positive", "integer", "boolean", "complex", "text", "index", "axis", "size",
        "variable", "sparse", "list", "option", "dtype", "function", "dataset", "maybe",
    }  # fmt: skip
