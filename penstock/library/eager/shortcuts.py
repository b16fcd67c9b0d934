"""Public functions that come down to one operation: from the arguments to its kernel at once.

Most functions of the API look at their arguments and then make one operation.  What they find out
is the same for the same kinds of arguments, so after a few calls of one kind the kernel is called
with no more looking: dtypes and shapes of tensors, Python's numbers and names are in the key of a
shortcut, and are written into the text of its function, as into that of a program for known shapes.

A call has no shortcut where anything else could matter: more than one operation, state, a look at
the value of a tensor, an argument of an unusual kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from penstock.engine.runtime.program import InferenceMode
from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.operation import Operation, infer_shapes
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.registry import OPS
from penstock.library.eager.calls import RULES, Call, expression_of, parameters_of, places_of
from penstock.library.eager.recorders import recorders, tell
from penstock.library.eager.tensor import EagerTensor, looks

# From the tensors among the arguments to the result; it tells who listens.
Entry = Callable[..., EagerTensor]
# Calls of a kind before it gets a shortcut: what is called a few times is not worth compiling.
CALLS_BEFORE = 4
_MOST_KEPT = 1 << 14
_MOST_ITEMS = 8
_MOST_ELEMENTS = 64
HANDLES = frozenset((id(dtypes.resource), id(dtypes.variant)))
PLAIN = frozenset((int, bool, str, dtypes.DType))


def kinds_of(items: Any, kinds: list[Any], tensors: list[EagerTensor]) -> bool:
    """Whether all items are of kinds that a shortcut can know.

    Args:
      items: arguments, or the items of one.
      kinds: gets what tells them apart.
      tensors: gets the tensors among them.
    """
    for item in items:
        kind = type(item)
        if kind is EagerTensor:
            number = id(item.dtype)
            if number in HANDLES:
                return False
            kinds.append(number)
            kinds.append(item.value.shape)
            tensors.append(item)
        elif item is None:
            kinds.append(None)
        elif kind in PLAIN or (kind is float and item and item == item):
            kinds.append(kind)
            kinds.append(item)  # 0.0 and -0.0 would be one key
        elif kind is list or kind is tuple:
            kinds.append(kind)
            kinds.append(len(item))
            if len(item) > _MOST_ITEMS or not kinds_of(item, kinds, tensors):
                return False
        else:
            return False
    return True


class Shortcuts:
    """The shortcuts of a context.

    State: those that are known, and how often kinds of calls without one were seen.
    """

    def __init__(self) -> None:
        self._known: dict[Any, Entry] = {}
        self._calls: dict[Any, int] = {}
        # The shortcut of a kind of call, or None: the look-up is on the way of every call.
        self.get = self._known.get

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self._known.values()))

    def clear(self) -> None:
        """Forgets them."""
        self._known.clear()
        self._calls.clear()

    def watched(
        self,
        key: Any,
        tensors: Sequence[EagerTensor],
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        call_of: Callable[..., Call],
    ) -> Any:
        """Calls a function; after some calls of a kind it is seen what they come down to.

        Args:
          key: tells the kinds of calls apart.
          tensors: those among the arguments.
          function, args, kwargs: the call.
          call_of: finds the ``Call`` of an operation.
        """
        calls = self._calls.get(key, 0)
        if calls > CALLS_BEFORE:  # there is none
            return function(*args, **kwargs)
        if len(self._calls) > _MOST_KEPT:
            self.clear()
        self._calls[key] = calls + 1
        if calls < CALLS_BEFORE:
            return function(*args, **kwargs)
        witness = _Witness()
        recorders.active.append(witness.record)
        try:
            result = function(*args, **kwargs)
        finally:
            recorders.active.remove(witness.record)
        found = witness.shortcut(tensors, result, call_of)
        if found is not None:
            self._known[key] = found
        return result


class _Witness:
    """Sees, as a tape would, what a function runs; ``shortcut`` says what it comes down to."""

    def __init__(self) -> None:
        self._seen: list[tuple[Any, dict[str, Any], Sequence[Any], Sequence[Any]]] = []
        self._looks = looks.count

    def record(
        self, op_def: Any, attrs: dict[str, Any], inputs: Sequence[Any], outputs: Sequence[Any]
    ) -> None:
        """An operation has run."""
        self._seen.append((op_def, attrs, inputs, outputs))

    def shortcut(
        self, tensors: Sequence[Any], result: Any, call_of: Callable[..., Call]
    ) -> Entry | None:
        """The shortcut of the call that was watched; None where there is none.

        Args:
          tensors: those among its arguments.
          result: what it has returned.
          call_of: finds the ``Call`` of an operation.
        """
        if len(self._seen) != 1 or self._looks != looks.count:
            return None
        op_def, attrs, inputs, outputs = self._seen[0]
        if len(outputs) != 1 or result is not outputs[0] or op_def.name not in OPS:
            return None
        call = call_of(op_def, inputs, attrs, [result.dtype])
        places = {id(t): i for i, t in enumerate(tensors)}
        order = [places.get(id(t), -1) for t in inputs]
        is_whole = len(places) == len(tensors) and places.keys() <= {id(t) for t in inputs}
        kept = [t for t, i in zip(inputs, order, strict=True) if i < 0]
        if not is_whole or call.entry is None or op_def.stateful or not all(map(_is_few, kept)):
            return None
        return _entry(call, inputs, order)


def _is_few(tensor: Any) -> bool:
    dtype = tensor.dtype
    return bool(
        dtype.is_numpy_compatible
        and dtype is not dtypes.string
        and tensor.static_value.size <= _MOST_ELEMENTS
    )


_ENTRY = """\
def entry({tensors}):
    {given} = {values}
    {guard}
    try:
        result = {expression}
    except OpError:
        raise
    except Exception as raised:
        raise call.error(raised, ({operands},)) from raised
    {release}
    made = new(EagerTensor)
    made.value = result
    made.dtype = dtype
    if recorders.active:
        tell(call, ({whole},), (made,))
    return made
"""
# One kernel of ATen's; what changes what it has made needs the guard.
_ONE_KERNEL = re.compile(r"(torch|x\d+)\.[a-z0-9_]*[a-z0-9]\([^()]*(\([^()]*\)[^()]*)?\)")


# Kernels that ATen splits among threads for more elements only than calls run alone for.
_UNSPLIT = re.compile(
    r"torch\.(cat|stack|where)\(.*|x\d+\.(sum|mean|amax|amin|to|reshape|unsqueeze|squeeze|permute|t)\(.*"
)


def _entry(call: Call, inputs: Sequence[EagerTensor], order: Sequence[int]) -> Entry:
    given = [f"t{i}" for i in range(1 + max(order))]
    scope: dict[str, Any] = {
        "call": call, "dtype": call.types[0], "EagerTensor": EagerTensor, "new": object.__new__,
        "recorders": recorders, "tell": tell,
        "OpError": errors.OpError, "InferenceMode": InferenceMode, "torch": torch,
    }  # fmt: skip
    for place, tensor in enumerate(inputs):
        if order[place] < 0:
            scope[f"c{place}"], scope[f"k{place}"] = tensor, tensor.value
    whole = ", ".join(f"t{i}" if i >= 0 else f"c{p}" for p, i in enumerate(order))
    expression = _expression(call, inputs, order, scope)
    is_one = _ONE_KERNEL.fullmatch(expression)
    is_alone = call.checked.get(tuple([t.value.shape for t in inputs]))
    if is_alone and not (is_one and _UNSPLIT.fullmatch(expression)):  # the call sees to that
        text = f"def entry({', '.join(given)}):\n    return call.entry({whole})\n"
    else:
        used = [(f"x{p}", f"t{i}.value") for p, i in enumerate(order) if i >= 0]
        text = _ENTRY.format(
            tensors=", ".join(given),
            given="".join(f"{name}, " for name, _ in used),
            values="".join(f"{value}, " for _, value in used),
            guard="" if is_one else "guard = InferenceMode(True)",
            release="" if is_one else "finally:\n        del guard",
            expression=expression,
            whole=whole,
            operands=", ".join(f"x{p}" if i >= 0 else f"k{p}" for p, i in enumerate(order)),
        )
    exec(text, scope)
    entry: Entry = scope["entry"]
    return entry


def _expression(
    call: Call, inputs: Sequence[EagerTensor], order: Sequence[int], scope: dict[str, Any]
) -> str:
    """The source of the call where the dims of its inputs, and the kept ones' values, are known."""
    op_def, attrs = call.op_def, call.attrs
    nodes = [_node(t, order[p] < 0) for p, t in enumerate(inputs)]
    op = Operation(RULES, op_def, op_def.name, nodes, (), attrs, call.types, None)
    infer_shapes(op)
    kept = {p: t.value for p, t in enumerate(inputs) if order[p] < 0}
    places, _ = places_of(op_def, attrs)
    arguments = parameters_of(op_def, attrs, places, scope, call.compile, kept)
    return expression_of(op, arguments, scope)


def _node(tensor: EagerTensor, is_kept: bool) -> Tensor:
    """A tensor as one of a graph with known dims; a kept one is a constant there."""
    dtype = tensor.dtype
    attrs = {"value": tensor.static_value, "dtype": dtype} if is_kept else {}
    op_def = OPS["Const" if is_kept else "Placeholder"]
    made = Operation(RULES, op_def, "input", (), (), attrs, (dtype,), None).outputs[0]
    made.sizes = tensor.sizes
    return made
