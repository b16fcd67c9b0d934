"""Staging areas in the graph; the state is in ``resources.staging``.

These ops take no handle: container and shared name (else the node's own name) say which area they
mean, and whichever op comes first makes it.  All are rows of one table; the map ops have an
ordered form.  Those that may wait for another step are *blocking*; all have an effect, so that they
run though nobody consumes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.engine.resources.staging import MapStagingArea, StagingArea, Ticket
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, no_outputs, scalar
from penstock.foundation.opdef.shared_state import SharedState

_NO_GRADIENT = "moves tensors between steps"
_BOUNDS = ["capacity: int >= 0 = 0", "memory_limit: int >= 0 = 0"]
_SHARED = ['container: string = ""', 'shared_name: string = ""']
_ANY, _SOME = "dtypes: list(type)", "dtypes: list(type) >= 1"


def _area(attrs: dict[str, Any], name: str) -> StagingArea:
    return StagingArea(attrs["shared_name"] or name, attrs["capacity"], attrs["memory_limit"])


def _map_area(ordered: bool) -> Callable[[dict[str, Any], str], MapStagingArea]:
    def make(attrs: dict[str, Any], name: str) -> MapStagingArea:
        return MapStagingArea(
            attrs["shared_name"] or name, attrs["capacity"], attrs["memory_limit"], ordered
        )

    return make


def _values_shape(ctx: ShapeContext) -> Any:
    return [None] * len(ctx.attr("dtypes"))


def _key_and_values_shape(ctx: ShapeContext) -> Any:
    return [None] * (1 + len(ctx.attr("dtypes")))


def _stage(state: StagingArea, values: list[Any]) -> None:
    state.put(values)


def _start_stage(state: StagingArea, values: list[Any]) -> Ticket:
    return state.start_put(values)


def _unstage(state: StagingArea, dtypes: list[Any]) -> Any:
    return state.get(dtypes)


def _peek(state: StagingArea, index: int, dtypes: list[Any]) -> Any:
    return state.peek(index, dtypes)


def _map_stage(
    state: MapStagingArea, key: int, indices: list[int], values: list[Any], dtypes: list[Any]
) -> None:
    state.put(key, indices, values, len(dtypes))


def _start_map_stage(
    state: MapStagingArea, key: int, indices: list[int], values: list[Any], dtypes: list[Any]
) -> Ticket:
    return state.start_put(key, indices, values, len(dtypes))


def _map_unstage(state: MapStagingArea, key: int, indices: list[int], dtypes: list[Any]) -> Any:
    return state.get(key, indices, dtypes)


def _map_peek(state: MapStagingArea, key: int, indices: list[int], dtypes: list[Any]) -> Any:
    return state.peek(key, indices, dtypes)


def _map_unstage_no_key(state: MapStagingArea, indices: list[int], dtypes: list[Any]) -> Any:
    return state.get_any(indices, dtypes)


def _size(what: str) -> str:
    return f"torch.tensor({{state}}.{what}(), dtype=torch.int32)"


# As in TensorFlow, nodes of one area may differ in their bounds; the first one's hold.
_AREA = SharedState("staging area", _area)
_MAP_AREA = SharedState("map staging area", _map_area(False))
_ORDERED_AREA = SharedState("ordered map staging area", _map_area(True))

_LINE = [
    # op type, signature, its type attrs, shape rule, kernel, host inputs, whether it may wait
    ("Stage", "values: list(dtypes) ->", [_SOME], no_outputs, _stage, (), True),
    ("Unstage", "-> values: list(dtypes)", [_SOME], _values_shape, _unstage, (), True),
    ("StagePeek", "index: int32 -> values: list(dtypes)", [_SOME], _values_shape, _peek,
     ("index",), True),
    ("StageSize", "-> size: int32", [_ANY], scalar, _size("size"), (), False),
    ("StageClear", "->", [_ANY], no_outputs, "{state}.clear()", (), False),
]  # fmt: skip
_MAP = [
    ("MapStage", "key: int64, indices: int32, values: list(fake_dtypes) ->",
     [_ANY, "fake_dtypes: list(type) >= 1"], no_outputs, _map_stage, ("key", "indices"), True),
    ("MapUnstage", "key: int64, indices: int32 -> values: list(dtypes)", [_SOME], _values_shape,
     _map_unstage, ("key", "indices"), True),
    ("MapPeek", "key: int64, indices: int32 -> values: list(dtypes)", [_SOME], _values_shape,
     _map_peek, ("key", "indices"), True),
    ("MapUnstageNoKey", "indices: int32 -> key: int64, values: list(dtypes)", [_SOME],
     _key_and_values_shape, _map_unstage_no_key, ("indices",), True),
    ("MapSize", "-> size: int32", [_ANY], scalar, _size("size"), (), False),
    ("MapIncompleteSize", "-> size: int32", [_ANY], scalar, _size("incomplete_size"), (), False),
    ("MapClear", "->", [_ANY], no_outputs, "{state}.clear()", (), False),
]  # fmt: skip

_START_MAP: Any = (
    "key: int64, indices: int32, values: list(fake_dtypes)",
    [_ANY, "fake_dtypes: list(type) >= 1"],
    _start_map_stage,
    ("key", "indices"),
)

for _prefix, _rows, _make in (
    ("", _LINE, _AREA),
    ("", _MAP, _MAP_AREA),
    ("Ordered", _MAP, _ORDERED_AREA),
):
    for _name, _signature, _types, _shape, _kernel, _host, _waits in _rows:  # type: ignore[attr-defined]
        define_op(
            _prefix + _name,
            _signature,
            attrs=[*_BOUNDS, *_types, *_SHARED],
            shape=_shape,
            kernel=_kernel,
            state=_make,
            host=_host,
            stateful=True,
            effect=True,
            blocking=_waits,
            moves=_name == "Unstage",
            no_gradient=_NO_GRADIENT,
        )

# ---- the start of a put, for steps that take from areas as well (`passes.blocking`) --------------

for _type, _inputs, _types, _kernel, _host, _make in (
    ("Stage", "values: list(dtypes)", [_SOME], _start_stage, (), _AREA),
    ("MapStage", *_START_MAP, _MAP_AREA),
    ("OrderedMapStage", *_START_MAP, _ORDERED_AREA),
):
    define_op(
        f"_Start{_type}",
        f"{_inputs} -> ticket: variant",
        attrs=[*_BOUNDS, *_types, *_SHARED],
        shape=scalar,
        kernel=_kernel,
        state=_make,
        host=_host,
        stateful=True,
        effect=True,
        internal=True,
        no_gradient=_NO_GRADIENT,
    )
