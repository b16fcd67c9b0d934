"""``while`` and ``for``: over tensors ``tf.while_loop``, over datasets their reduction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph.defaults import default_graph_scope
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autograph import state
from penstock.library.control_flow.cond import cond
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.control_flow.while_loop import while_loop
from penstock.ops.array.shape import shape

Get = Callable[[], tuple[Any, ...]]
Set = Callable[[Sequence[Any]], None]


def _builds() -> bool:
    return not get_default_graph().executes


class _Loop:
    """The state of one loop over tensors: which parts are carried, and those that stay."""

    def __init__(self, get: Get, set: Set, names: Sequence[str]) -> None:
        self._get, self._set, self._names = get, set, names
        self._all = list(get())
        lacking = state.undefined_names(names, self._all)
        if "ag__result" in lacking:
            raise ValueError("return statements are not supported within a TensorFlow loop.")
        if lacking:
            raise ValueError(
                "TensorFlow requires that the following symbols must be defined before the loop:"
                f" {lacking}"
            )
        self._carried = [i for i, v in enumerate(self._all) if state.is_carried(v)]
        self.before = tuple(self._all[i] for i in self._carried)

    def put(self, values: Sequence[Any]) -> None:
        """Sets the state, of which the carried parts are given."""
        for index, value in zip(self._carried, values, strict=True):
            self._all[index] = value
        self._set(self._all)

    def taken(self) -> tuple[Any, ...]:
        """The carried parts of the state now.

        Raises:
          ValueError: another part has become something else.
        """
        values = self._get()
        for index, value in enumerate(values):
            if index not in self._carried and not state.same(value, self._all[index]):
                raise ValueError(
                    f"{self._names[index]!r} is {self._all[index]!r} before a TensorFlow loop and"
                    f" {value!r} after a round of it: None values not supported, nor others that"
                    " do not become tensors"
                )
        return tuple(values[i] for i in self._carried)

    def run(
        self, test: Callable[..., Any], body: Callable[..., Any], first: Sequence[Any],
        options: dict[str, Any] | None,
    ) -> None:  # fmt: skip
        """Builds the loop; ``first`` are values of its own, before those of the state."""
        own = len(first)

        def tested(*values: Any) -> Any:
            self.put(values[own:])
            return test(*values[:own])

        def round_(*values: Any) -> tuple[Any, ...]:
            self.put(values[own:])
            changed = body(*values[:own])
            return (*(changed or ()), *self.taken())

        found = while_loop(
            tested, round_, [*first, *self.before], return_same_structure=True, **(options or {})
        )
        self.put(found[own:])


def while_statement(
    test: Callable[[], Any],
    body: Callable[[], Any],
    get: Get,
    set: Set,
    names: Sequence[str],
    options: dict[str, Any] | None = None,
) -> None:
    """``while``: the test says of each round whether the rest is a loop of the graph.

    Args:
      test: what is tested.
      body: the block.
      get, set: read and set the state.
      names: of the state.
      options: of ``tf.while_loop``.

    Raises:
      ValueError: a name has no value before a loop over tensors.
    """
    while True:
        found = _tried(test) if _builds() else test()
        if isinstance(found, Tensor) and _builds():
            _Loop(get, set, names).run(test, body, (), options)
            return
        if not found:
            return
        body()


def _tried(test: Callable[[], Any]) -> Any:
    """The test's value; the nodes that it makes are not kept."""
    outer = get_default_graph()
    apart = FunctionGraph("tried", outer=outer)
    with default_graph_scope(apart):
        return test()


def for_statement(
    items: Any,
    body: Callable[[Any], Any],
    extra: Callable[[], Any] | None,
    get: Get,
    set: Set,
    names: Sequence[str],
    options: dict[str, Any] | None = None,
) -> None:
    """``for``: over the rows of a tensor, the elements of a dataset, or what Python iterates.

    Args:
      items: what is gone through.
      body: the block, of an item.
      extra: whether it goes on; None: always.
      get, set: read and set the state.
      names: of the state.
      options: of ``tf.while_loop``.

    Raises:
      ValueError: a name has no value before a loop over tensors.
    """
    if _builds() and isinstance(items, Tensor):
        _over_rows(items, body, extra, _Loop(get, set, names), options)
    elif _builds() and hasattr(items, "reduce") and hasattr(items, "structure"):
        _over_elements(items, body, extra, _Loop(get, set, names))
    else:
        for item in items:
            if extra is not None and not _goes_on(extra()):
                return
            body(item)


def _goes_on(more: Any) -> bool:
    """Whether a loop of Python's goes on.

    Raises:
      TypeError: a tensor says so, whose value is not known yet.
    """
    if isinstance(more, Tensor) and _builds():
        raise TypeError(
            "using a `tf.Tensor` as a Python `bool` is not allowed: `break`, `continue` or `return`"
            f" in a loop over Python's values depends on the tensor {more.name!r}; loop over a"
            " tensor (`for i in tf.range(n)`) instead"
        )
    return bool(more)


def _over_rows(
    items: Tensor, body: Any, extra: Any, loop: _Loop, options: dict[str, Any] | None
) -> None:
    dims = items.shape.dims
    if dims is not None and not dims:
        raise ValueError("cannot iterate over a scalar tensor: a loop goes through its first dim")
    known = None if dims is None else dims[0].value
    count = shape(items)[0] if known is None else known
    inner = None if dims is None else items.shape[1:]
    rows = TensorArray(items.dtype, size=count, element_shape=inner).unstack(items)

    def test(i: Any) -> Any:
        more = i < count
        return more if extra is None else cond(more, extra, lambda: more)

    def round_(i: Any) -> Any:
        body(rows.read(i))
        return (i + 1,)

    loop.run(test, round_, (0,), options)


def _over_elements(items: Any, body: Any, extra: Any, loop: _Loop) -> None:
    def step(carried: Any, item: Any) -> Any:
        loop.put(carried[:-1])
        if extra is None:
            body(item)
        else:
            _guarded(extra, lambda: body(item), loop)
        return (*loop.taken(), carried[-1])

    # A state that is empty is none to reduce: one number goes with it.
    found = items.reduce((*loop.before, 0), step)
    loop.put(found[:-1])


def _guarded(extra: Callable[[], Any], body: Callable[[], Any], loop: _Loop) -> None:
    before = loop.taken()

    def go() -> Any:
        body()
        return state.as_tensors(loop.taken())

    loop.put(cond(extra(), go, lambda: state.as_tensors(before), strict=True))
