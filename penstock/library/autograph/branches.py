"""``if`` over a tensor: ``tf.cond``, whose branches give the state that is live after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import nest
from penstock.foundation.graph.build import constant
from penstock.library.autograph import state
from penstock.library.control_flow.cond import cond

_RETURN = "return value"


class _Branch:
    """One branch: runs its block from the state before, and keeps what tensors do not carry."""

    def __init__(self, label: str, block: Callable[[], Any], owner: _Both) -> None:
        self.label, self._block, self._owner = label, block, owner
        self.kept: dict[int, Any] = {}
        self.types: dict[int, list[Any]] = {}

    def __call__(self) -> tuple[Any, ...]:
        owner = self._owner
        owner.set(owner.before)
        self._block()
        values = owner.get()[: owner.count]
        owner.check_defined(self.label, values)
        carried = {i: v for i, v in enumerate(values) if state.is_carried(v)}
        self.kept = {i: v for i, v in enumerate(values) if i not in carried}
        made = {i: state.as_tensors(v) for i, v in carried.items()}
        self.types = {
            i: [getattr(t, "dtype", None) for t in nest.flatten(v)] for i, v in made.items()
        }
        owner.check_alike()
        return (*made.values(), constant(1, name="branch"))


class _Both:
    """Both branches and the state around them."""

    def __init__(
        self, then: Any, other: Any, get: Any, set: Any, names: Sequence[str], count: int
    ) -> None:
        self.get, self.set, self.count = get, set, count
        self._names = names
        self.before = get()
        self.then, self.other = _Branch("main", then, self), _Branch("else", other, self)

    def check_defined(self, label: str, values: Sequence[Any]) -> None:
        lacking = state.undefined_names(self._names, values)
        shown = tuple(_RETURN if n == "ag__result" else n for n in lacking)
        if _RETURN in shown:
            raise ValueError(
                f"A value must also be returned from the {label} branch. If a value is returned"
                " from one branch of a conditional a value must be returned from all branches."
            )
        if lacking:
            raise ValueError(
                f"The following symbols must also be initialized in the {label} branch: {shown}."
                " Alternatively, you may initialize them before the if statement."
            )

    def check_alike(self) -> None:
        """Refuses branches that give the state other types or structures.

        Raises:
          TypeError: dtypes or structures differ.
          ValueError: a value that is no tensor differs.
        """
        then, other = self.then, self.other
        if not (then.types or then.kept) or not (other.types or other.kept):
            return  # one of them has not run
        for index in range(self.count):
            name = self._names[index].replace("ag__result", _RETURN)
            if (index in then.kept) != (index in other.kept):
                raise ValueError(
                    f"Lengths of branch outputs of cond must match: {name!r} is a tensor in one"
                    f" branch; in the other it is {(then.kept | other.kept)[index]!r}"
                )
            if index in then.kept and not state.same(then.kept[index], other.kept[index]):
                raise ValueError(
                    f"{name!r} must be a tensor, or the same in both branches; it is"
                    f" {then.kept[index]!r} in the one and {other.kept[index]!r} in the other"
                )
            if index in then.types:
                _check_types(name, then.types[index], other.types[index])

    def after(self, results: Sequence[Any]) -> list[Any]:
        """The state after it."""
        carried = iter(results)
        outputs = [
            self.then.kept[i] if i in self.then.kept else next(carried) for i in range(self.count)
        ]
        return [*outputs, *self.before[self.count :]]


def _check_types(name: str, then: Sequence[Any], other: Sequence[Any]) -> None:
    if len(then) != len(other):
        raise TypeError(
            f'"{name}" must have the same nested structure in the TRUE and the FALSE branch; it'
            f" has {len(then)} and {len(other)} values"
        )
    for one, two in zip(then, other, strict=True):
        if one is not two and None not in (one, two):
            raise TypeError(
                f'"{name}" has dtype {one.name} in the TRUE branch, but dtype={two.name} in the'
                " FALSE branch. TensorFlow control flow requires that they are the same."
            )


def if_tensor(
    test: Any,
    then: Callable[[], Any],
    other: Callable[[], Any],
    get: Callable[[], tuple[Any, ...]],
    set: Callable[[Sequence[Any]], None],
    names: Sequence[str],
    count: int,
) -> None:
    """Builds a conditional; see ``operators.if_statement``.

    Raises:
      TypeError: a name has other dtypes or structures after the two branches.
      ValueError: a name has no value after one of them.
    """
    both = _Both(then, other, get, set, names, count)
    results = cond(test, both.then, both.other, strict=True)
    set(both.after(results[:-1]))
