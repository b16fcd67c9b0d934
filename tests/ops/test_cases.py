"""Every row of the op table, run: dtypes, static shapes, constants, and whose memory is touched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.engine.session import prepared
from penstock.foundation.base.dtypes import stored_as
from penstock.foundation.opdef import registry
from penstock.foundation.opdef.opdef import call_kernel
from tests.conformance.jobs import base_name, build, run_built, static_shape
from tests.conformance.peers import to_job
from tests.ops.cases import all_cases
from tests.ops.engine import BACKEND, allowed_dtypes, definition_of
from tests.ops.opcase import Bound, OpCase, canonical, numpy_dtype
from tests.ops.tolerance import difference

# Rows are bound to their dtypes by the tests: most processes that collect these run few of them.
Row = tuple[OpCase, str]
SWEEP: list[Row] = [(case, dtype) for case in all_cases() for dtype in allowed_dtypes(case)]
RUNS = [row for row in SWEEP if not row[0].raises]
# Shape inference does not depend on the dtype: one dtype a row.
ONE_DTYPE = [(case, dtype) for case, dtype in RUNS if dtype == allowed_dtypes(case)[0]]
OTHER_DTYPES = [(case, dtype) for case, dtype in RUNS if dtype != allowed_dtypes(case)[0]]
ERRORS = [row for row in SWEEP if row[0].raises]


def _rows(rows: list[Row]) -> pytest.MarkDecorator:
    """One test a row, with the ids of ``Bound``."""
    names = [f"{case.id}-{canonical(dtype)}" for case, dtype in rows]
    return pytest.mark.parametrize("bound", rows, ids=names, indirect=True)


def _repeatable(case: OpCase) -> bool:
    definition = definition_of(case)
    return not case.reason and not (definition and definition.random)


@pytest.fixture
def bound(request: pytest.FixtureRequest) -> Bound:
    case, dtype = request.param
    return case.bind(dtype)


def _fits(static: list[int | None] | None, shape: tuple[int, ...]) -> bool:
    if static is None:
        return True
    return len(static) == len(shape) and all(
        s is None or s == d for s, d in zip(static, shape, strict=True)
    )


def _copy(value: Any) -> np.ndarray:
    return BACKEND.from_fetch(value, str(value.dtype)).copy()


@_rows(RUNS)
def test_runs_as_declared(bound: Bound, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is declared holds of the outputs, and every way to run the row gives the same."""
    with tf.Graph().as_default():
        built = build(BACKEND, to_job(bound))
        with tf.Session() as session:
            before = {t: _copy(v) for t, v in built.feeds.items()}
            outputs = run_built(BACKEND, session, built)
            for tensor, (name, value) in zip(built.op.outputs, outputs, strict=True):
                if value is None:
                    continue
                assert value.dtype == numpy_dtype(name), f"{tensor.name}: declared {name}"
                static = static_shape(tensor)
                assert _fits(static, value.shape), f"{tensor.name}: {static} is not {value.shape}"
            for tensor, value in built.feeds.items():
                np.testing.assert_array_equal(_copy(value), before[tensor], "a feed was changed")
            _check_reference(bound, outputs)
            if _repeatable(bound.case) and bound.dtype == canonical(allowed_dtypes(bound.case)[0]):
                _check_other_ways(bound, outputs, monkeypatch)
            _check_values_stay(built, session, outputs)


def _check_reference(bound: Bound, outputs: list[Any]) -> None:
    if bound.case.ref is None:
        return
    with np.errstate(all="ignore"):
        expected = bound.case.ref(*[i.value for i in bound.flat])
    expected = expected if isinstance(expected, tuple) else (expected,)
    for want, (name, value) in zip(expected, outputs, strict=True):
        want = np.asarray(want).astype(value.dtype)
        wrong = difference(want, value, name, rtol=bound.case.rtol, atol=bound.case.atol)
        assert wrong is None, f"against NumPy: {wrong}"


def _check_values_stay(built: Any, session: Any, outputs: list[Any]) -> None:
    """A fetched value never changes, whatever is run or overwritten afterwards."""
    kept = [None if v is None else v.copy() for _, v in outputs]
    run_built(BACKEND, session, built)
    for value in built.feeds.values():
        if value.dtype != object:
            value[...] = 0
    for value, (_, fetched) in zip(kept, outputs, strict=True):
        if value is not None:
            np.testing.assert_array_equal(fetched, value, "a fetched value changed later")


@pytest.mark.long
@_rows([row for row in OTHER_DTYPES if _repeatable(row[0])])
def test_every_way_gives_the_same(bound: Bound, monkeypatch: pytest.MonkeyPatch) -> None:
    _check_other_ways(bound, _outputs(bound)[0], monkeypatch)


def _check_other_ways(bound: Bound, expected: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled for the fed shapes, for any shape, and folded at compile time.

    Like what ``expected`` was compiled for, static shapes, the first uses what ``inline`` writes
    for known shapes; the second uses what serves all shapes, the last the kernel itself.
    """
    ways = {"fed shapes": _outputs_of_unknown_shapes(bound)}
    ways["constants"] = _outputs(bound, as_const=True)[0]
    monkeypatch.setattr(prepared, "_SPECIAL_PROGRAMS", 0)
    ways["any shapes"] = _outputs_of_unknown_shapes(bound)
    for way, found in ways.items():
        for (name, fed), (_, other) in zip(expected, found, strict=True):
            wrong = None if fed is None else difference(fed, other, name)
            assert wrong is None, f"from {way}: {wrong}"


def _outputs_of_unknown_shapes(bound: Bound) -> list[Any]:
    """Values of the outputs where the feeds' shapes are unknown; the static shapes allow them."""
    outputs, statics = _outputs(bound, known=False)
    for static, (_, value) in zip(statics, outputs, strict=True):
        assert value is None or _fits(static, value.shape), f"{static} is not {value.shape}"
    return outputs


def _outputs(bound: Bound, **how: bool) -> tuple[list[Any], list[Any]]:
    """Values and static shapes of the outputs, built as ``how`` tells ``build``."""
    with tf.Graph().as_default():
        built = build(BACKEND, to_job(bound), **how)
        with tf.Session() as session:
            values = run_built(BACKEND, session, built)
    return values, [static_shape(t) for t in built.op.outputs]


@_rows([row for row in ONE_DTYPE if not _repeatable(row[0])])
def test_unknown_static_shapes(bound: Bound) -> None:
    _outputs_of_unknown_shapes(bound)


@_rows(ERRORS)
def test_raises(bound: Bound) -> None:
    with tf.Graph().as_default(), pytest.raises((ValueError, TypeError, tf.errors.OpError)):
        built = build(BACKEND, to_job(bound))
        with tf.Session() as session:
            run_built(BACKEND, session, built)


# ---- kernels, called directly ----------------------------------------------------------------


def _to_torch(value: np.ndarray, dtype: str) -> Any:
    if dtype == "string":
        return value.copy()
    tensor = torch.from_numpy(np.array(value))
    return tensor.to(torch.bfloat16) if dtype == "bfloat16" else tensor


def _attr(value: Any) -> Any:
    if isinstance(value, tf.DType):
        name = base_name(value)
        if name in ("string", "resource", "variant"):
            return object
        return getattr(torch, stored_as(value).name)
    if isinstance(value, tf.TensorShape):
        return None if value.ndims is None else tuple(value.as_list())
    return [_attr(v) for v in value] if isinstance(value, list | tuple) else value


def _pure(case: OpCase) -> bool:
    definition = definition_of(case)
    if definition is None or not definition.pure or "state" in definition.parameters:
        return False
    direct = definition.kernel is not None or definition.template is not None
    return direct and all(spec.how in ("feed", "const") for spec in case.specs)


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [t for v in value for t in _tensors(v)]
    return [value] if isinstance(value, torch.Tensor | np.ndarray) else []


def _memory(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return value.untyped_storage().data_ptr()
    root = value
    while isinstance(root.base, np.ndarray):
        root = root.base
    return id(root)


@_rows([row for row in ONE_DTYPE if _pure(row[0])])
def test_kernel_declares_aliases_and_leaves_inputs(bound: Bound) -> None:
    definition = registry.lookup(bound.case.op)
    with tf.Graph().as_default():
        attrs = build(BACKEND, to_job(bound)).op.attrs
    values: dict[str, Any] = {name: _attr(attrs[name]) for name in definition.attrs}
    device: dict[str, list[Any]] = {}
    for arg, given in zip(definition.inputs, bound.inputs, strict=True):
        items = given if isinstance(given, list) else [given]
        if arg.name in definition.host:
            host = [i.value.tolist() for i in items]
            values[arg.name] = host if isinstance(given, list) else host[0]
            continue
        device[arg.name] = [_to_torch(i.value, i.dtype) for i in items]
        values[arg.name] = device[arg.name] if isinstance(given, list) else device[arg.name][0]
    before = {n: [t.clone() if hasattr(t, "clone") else t.copy() for t in ts]
              for n, ts in device.items()}  # fmt: skip
    outputs = _tensors(call_kernel(definition, values))
    shared = {
        name
        for name, tensors in device.items()
        for t in tensors
        if any(_memory(t) == _memory(o) for o in outputs if _size(o) and _size(t))
    }
    undeclared = shared - set(definition.aliases)
    assert not undeclared, f"outputs share memory with {undeclared}, not declared in aliases"
    _check_separate(outputs, {_memory(t) for ts in device.values() for t in ts})
    for name, tensors in device.items():
        for now, then in zip(tensors, before[name], strict=True):
            same = torch.equal if isinstance(now, torch.Tensor) else np.array_equal
            if isinstance(now, torch.Tensor) and bool((now != now).any()):
                # NaN differs from itself: put a number in its place.
                now, then = (t.where(t == t, 7) for t in (now, then))
            assert same(now, then), f"the kernel changed its input {name}"


def _check_separate(outputs: list[Any], inputs: set[int]) -> None:
    """Outputs in memory of their own share it with no other output, nor with themselves."""
    own = [t for t in outputs if _size(t) and _memory(t) not in inputs]
    assert len({_memory(t) for t in own}) == len(own), "two outputs share memory"
    for tensor in own:
        if isinstance(tensor, torch.Tensor):
            overlaps = any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape))
            assert not overlaps, "an output is an expanded tensor: writing to it would fail"


def _size(value: Any) -> int:
    return value.numel() if isinstance(value, torch.Tensor) else value.size


def test_the_table_has_rows() -> None:
    assert len(all_cases()) >= 15
    assert RUNS and ERRORS
