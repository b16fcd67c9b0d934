"""Gradients of what a tape has recorded, as a program: of tapes that record the same again.

A training loop records the same calls of the same dtypes and shapes at each step.  When a structure
was seen a few times, its gradient is traced once, as a graph whose arguments are the tensors of the
record, and compiled; from then on a tape hands the program their values.

A structure has no program where something besides dtypes and shapes could matter: gradient
functions of a user's own, state, resources that are not simply read, sparse results.

State: the programs by structure, how often structures without one were seen, and what is known of
the calls in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from penstock.engine.runtime.program import execute
from penstock.engine.runtime.values import value_source
from penstock.engine.session.build import build_program
from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.registry import GRADIENTS, OPS
from penstock.library.eager.calls import places_of
from penstock.library.eager.recorders import recorders
from penstock.library.eager.tensor import eager_tensor

# Of a call: the op type, its attrs, the inputs, the outputs.
Record = tuple[OpDef, dict[str, Any], Sequence[Any], Sequence[Any]]
# Finds gradients: of records, what is watched, targets, sources, gradients to start from.
Backwards = Callable[..., list[Any]]
# A program takes longer to make than some hundred steps without one.
TAPES_BEFORE = 8
_MOST_RECORDS, _MOST_KINDS, _MOST_PROGRAMS, _MOST_ITEMS = 1 << 9, 1 << 12, 1 << 10, 64


class _Kind(NamedTuple):
    """What is known of calls with one set of attrs; it keeps them, as their id is in keys."""

    op_def: OpDef
    attrs: dict[str, Any]
    fits: bool
    # The places of the inputs whose values the kernel takes as numbers.
    hosts: tuple[int, ...]


class _Program(NamedTuple):
    """The gradient of a structure: the numbers of the tensors it takes, and what it gives."""

    function: Any
    taken: list[int]
    # Of each source the place among the results, or -1, and the dtype.
    places: list[tuple[int, Any]]


class Replays:
    """The gradients of structures that tapes of a context have recorded.

    Args:
      context: the eager context.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self._kinds: dict[int, _Kind] = {}
        self._seen: dict[Any, int] = {}
        self._programs: dict[Any, _Program | None] = {}

    def clear(self) -> None:
        """Forgets them."""
        self._kinds.clear()
        self._seen.clear()
        self._programs.clear()

    def gradients(
        self,
        records: Sequence[Record],
        watched: set[Any],
        targets: Sequence[Any],
        sources: Sequence[Any],
        backwards: Backwards,
    ) -> list[Any] | None:
        """The gradients by a program; None where there is none (yet).

        Args:
          records: of the tape, in order.
          watched: the tensors that are watched.
          targets, sources: eager tensors, or handles of variables among the sources.
          backwards: finds the gradients, eagerly or in a graph.
        """
        if recorders.active or not 0 < len(records) <= _MOST_RECORDS:
            return None
        if len(self._kinds) > _MOST_KINDS:
            self.clear()  # never while a key is built: it holds ids of attrs that kinds keep
        numbers: dict[Any, int] = {}
        key = self._key(records, watched, numbers)
        if key is None:
            return None
        for target in targets:
            if target not in numbers:
                return None
            key.append(numbers[target])
        key.append(None)
        key += [numbers.get(source, -1) for source in sources]
        whole = tuple(key)
        program = self._programs.get(whole, self)
        if program is self:
            program = self._made(whole, records, watched, targets, sources, numbers, backwards)
        if program is None:
            return None
        return self._run(program, list(numbers))  # type: ignore[arg-type]

    def _key(
        self, records: Sequence[Record], watched: set[Any], numbers: dict[Any, int]
    ) -> list[Any] | None:
        """What tells structures apart, while tensors get numbers; None of what has no program."""
        key: list[Any] = []
        for op_def, attrs, inputs, outputs in records:
            kind = self._kinds.get(id(attrs))
            if kind is None or kind.op_def is not op_def:
                kind = self._kind(op_def, attrs)
            if not kind.fits:
                return None
            key.append(kind.op_def.name)
            key.append(id(attrs))
            for tensor in inputs:
                number = numbers.get(tensor)
                if number is None:
                    number = numbers[tensor] = len(numbers)
                    dtype = tensor.dtype
                    shape = None if dtype is dtypes.resource else tensor.value.shape
                    key += (id(dtype), shape, tensor in watched)
                key.append(number)
            for place in kind.hosts:
                value = inputs[place].value
                if value.numel() > _MOST_ITEMS or inputs[place] in watched:
                    return None
                key.append(str(value.tolist()))
            for tensor in outputs:
                if tensor in numbers:
                    return None
                numbers[tensor] = len(numbers)
                key += (id(tensor.dtype), tensor.value.shape)
        return key

    def _kind(self, op_def: OpDef, attrs: dict[str, Any]) -> _Kind:
        fits = OPS.get(op_def.name, None) is op_def and _is_plain(op_def, attrs)
        places = places_of(op_def, attrs)[0] if fits else {}
        hosts = tuple(place for name in op_def.host for place in places.get(name, ()))
        found = self._kinds[id(attrs)] = _Kind(op_def, attrs, fits, hosts)
        return found

    def _made(
        self,
        key: tuple[Any, ...],
        records: Sequence[Record],
        watched: set[Any],
        targets: Sequence[Any],
        sources: Sequence[Any],
        numbers: dict[Any, int],
        backwards: Backwards,
    ) -> _Program | None:
        count = self._seen.get(key, 0) + 1
        if count <= TAPES_BEFORE:
            if len(self._seen) > _MOST_PROGRAMS:
                self._seen.clear()
            self._seen[key] = count
            return None
        if len(self._programs) > _MOST_PROGRAMS:
            self._programs.clear()
        traced = _Traced(self._context, records, numbers, watched)
        try:
            made = traced.program(targets, sources, backwards)
        except (LookupError, NotImplementedError, TypeError, ValueError):
            made = None  # what runs eagerly says what is wrong, if something is
        self._programs[key] = made
        return made

    def _run(self, program: _Program, tensors: list[Any]) -> list[Any]:
        values = execute(program.function, [tensors[number].value for number in program.taken])
        return [
            None if place < 0 else eager_tensor(values[place], dtype)
            for place, dtype in program.places
        ]


class _Traced:
    """The graph that stands for a record: an argument for each of its tensors."""

    def __init__(
        self,
        context: Any,
        records: Sequence[Record],
        numbers: dict[Any, int],
        watched: set[Any],
    ) -> None:
        self._context = context
        self._body = FunctionGraph("gradient", outer=context)
        self._body.arrays_are_lists = True
        self._stand = {t: self._argument(t, number) for t, number in numbers.items()}
        self._watched = {self._stand[t] for t in numbers if t in watched}
        with default_graph_scope(self._body):
            self._records = [self._record(*record) for record in records]

    def _argument(self, tensor: Any, number: int) -> Tensor:
        return self._body.add_input(tensor.dtype, tensor.sizes, f"t{number}")

    def _record(
        self,
        op_def: OpDef,
        attrs: dict[str, Any],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
    ) -> Record:
        inner = [self._stand[t] for t in inputs]
        places, _ = places_of(op_def, attrs)
        for name in op_def.host:
            for place in places.get(name, ()):
                inner[place] = constant(inputs[place].static_value, inputs[place].dtype)
        return op_def, attrs, inner, [self._stand[t] for t in outputs]

    def program(
        self, targets: Sequence[Any], sources: Sequence[Any], backwards: Backwards
    ) -> _Program | None:
        """The program; None where a gradient is no plain tensor."""
        stand, body = self._stand, self._body
        inner = [stand[t] for t in targets]
        # What no call took stands for itself.
        asked = [stand.get(s, s) for s in sources]
        with default_graph_scope(body):
            found = backwards(self._records, self._watched, inner, asked, None)
            if any(g is not None and type(g) is not Tensor for g in found):
                return None
            kept = list(dict.fromkeys(g for g in found if g is not None))
            body.finish(kept)
        if body.captured_outer or body.effects() or not kept:
            return None
        taken = [n for n, argument in enumerate(body.inputs) if argument.uses]
        feeds = [body.inputs[n] for n in taken]
        made = build_program(
            body, feeds, body.outputs, [], self._context.resources, self._context.options,
            shapes=[t.sizes or () for t in feeds],  # type: ignore[misc]
            result_source=value_source,
        )  # fmt: skip
        places = [(-1, None) if g is None else (kept.index(g), g.dtype) for g in found]
        return _Program(made, taken, places)


def _is_plain(op_def: OpDef, attrs: dict[str, Any]) -> bool:
    """Whether the gradient of a call follows from its dtypes, shapes and attrs."""
    if _is_read(op_def):
        return True
    if op_def.stateful or op_def.writes or op_def.reads or "_gradient_op_type" in attrs:
        return False
    if any(isinstance(value, FunctionGraph) for value in attrs.values()):
        return False
    function = GRADIENTS.get(op_def.name, None)
    if not getattr(function, "__module__", "").startswith("penstock."):
        return False
    return not any(_may_be_handle(arg, attrs) for arg in (*op_def.inputs, *op_def.outputs))


def _is_read(op_def: OpDef) -> bool:
    """Whether calls give the value of a variable and do nothing else."""
    alone = len(op_def.inputs) == 1 and op_def.inputs[0].dtype is dtypes.resource
    return bool(alone and op_def.aliases and not op_def.writes)


def _may_be_handle(arg: Any, attrs: dict[str, Any]) -> bool:
    if arg.type_list_attr is not None:
        kinds = list(attrs[arg.type_list_attr])
    else:
        kinds = [arg.dtype or attrs[arg.type_attr or ""]]
    return any(not k.is_numpy_compatible or k is dtypes.string for k in kinds)
