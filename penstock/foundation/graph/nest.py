"""Nestings of values: lists, tuples, namedtuples and dicts, in the order that TF 1.x gives them.

A dict's parts come in the order of its sorted keys, and a nesting that is rebuilt keeps the type
and order of the one it is modelled on.  With ``expand_composites`` an IndexedSlices or SparseTensor
is a nesting of its tensors; otherwise it is one value.  What is no nesting is a leaf.

``penstock.training.data.specs`` has the nestings of datasets, where a list is one tensor.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.foundation.graph.parted import Parted, PartedSpec

__all__ = [
    "assert_same_structure", "assert_shallow_structure", "flatten", "flatten_up_to",
    "is_nested", "is_sequence", "is_sequence_or_composite", "map_structure", "map_structure_up_to",
    "pack_sequence_as",
]  # fmt: skip


def is_composite(value: Any) -> bool:
    """Whether the value is one of several tensors."""
    return isinstance(value, Parted) and not isinstance(value, PartedSpec)


def is_composite_spec(value: Any) -> bool:
    """Whether the value is the spec of one of several tensors."""
    return isinstance(value, PartedSpec) and value.nest_parts() is not None


def is_sequence(seq: Any) -> bool:
    """Whether ``seq`` is a nesting: a list, tuple or dict."""
    return isinstance(seq, list | tuple | Mapping) or (
        isinstance(seq, Sequence) and not isinstance(seq, str | bytes | bytearray | memoryview)
    )


is_nested = is_sequence


def is_sequence_or_composite(seq: Any) -> bool:
    """Whether ``seq`` is a nesting where composites are expanded."""
    return is_sequence(seq) or is_composite(seq) or is_composite_spec(seq)


def components(value: Any) -> list[Any]:
    """The tensors of a composite, in TF's order."""
    return list(value.nest_parts())


def sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def parts_of(value: Any, expand_composites: bool) -> list[Any] | None:
    """The parts of a nesting in order; None of a leaf."""
    if expand_composites and isinstance(value, Parted):
        return value.nest_parts()
    if isinstance(value, Mapping):
        return [value[key] for key in sorted_keys(value)]
    return list(value) if is_sequence(value) else None


def like(instance: Any, parts: Sequence[Any]) -> Any:
    """A nesting of the kind of ``instance`` of other parts."""
    if isinstance(instance, Parted):
        return instance.nest_like(parts)
    if isinstance(instance, Mapping):
        made = dict(zip(sorted_keys(instance), parts, strict=True))
        items = [(key, made[key]) for key in instance]
        if isinstance(instance, collections.defaultdict):
            return type(instance)(instance.default_factory, items)
        return type(instance)(items)  # type: ignore[call-arg]
    if isinstance(instance, tuple) and hasattr(instance, "_fields"):
        return type(instance)(*parts)
    if not isinstance(instance, list | tuple):
        return type(instance)(list(parts))
    return type(instance)(parts)


def _leaves(value: Any, expand: bool) -> Iterator[Any]:
    parts = parts_of(value, expand)
    if parts is None:
        yield value
        return
    for part in parts:
        yield from _leaves(part, expand)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of ``structure`` in order.

    >>> flatten({"b": [1, (2,)], "a": 0})
    [0, 1, 2]
    """
    return list(_leaves(structure, expand_composites))


def pack_sequence_as(
    structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False
) -> Any:
    """A nesting as ``structure`` of the leaves ``flat_sequence``.

    Raises:
      TypeError: ``flat_sequence`` is no sequence.
      ValueError: too few leaves or too many.

    >>> pack_sequence_as({"b": [1, (2,)], "a": 0}, [7, 8, 9])
    {'b': [8, (9,)], 'a': 7}
    """
    if not is_sequence(flat_sequence):
        raise TypeError("flat_sequence must be a sequence")
    flat = list(flat_sequence)
    if parts_of(structure, expand_composites) is None:
        if len(flat) != 1:
            raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat)} > 1")
        return flat[0]
    wanted = len(flatten(structure, expand_composites))
    if wanted != len(flat):
        raise ValueError(
            "Could not pack sequence. Structure had"
            f" {wanted} elements, but flat_sequence had {len(flat)} elements. "
            f" Structure: {structure}, flat_sequence: {flat}."
        )
    return _packed(structure, iter(flat), expand_composites)


def _packed(structure: Any, flat: Iterator[Any], expand: bool) -> Any:
    parts = parts_of(structure, expand)
    if parts is None:
        return next(flat)
    return like(structure, [_packed(part, flat, expand) for part in parts])


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Checks that two nestings have one form.

    Raises:
      ValueError: they differ in depth or number of parts.
      TypeError: they differ in the type of a nesting (with ``check_types``).
    """
    try:
        _assert_same(nest1, nest2, check_types, expand_composites)
    except (ValueError, TypeError) as error:
        first, second = (map_structure(lambda _: ".", n) for n in (nest1, nest2))
        raise type(error)(
            f"{error}\nEntire first structure:\n{first}\nEntire second structure:\n{second}"
        ) from None


def _assert_same(first: Any, second: Any, check_types: bool, expand: bool) -> None:
    if expand and (is_composite_spec(first) or is_composite_spec(second)):
        _assert_same_spec(first, second)
        return
    parts = [parts_of(value, expand) for value in (first, second)]
    a, b = parts
    if a is None or b is None:
        if a is not b:
            which = ("First", "second") if b is None else ("Second", "first")
            nested, leaf = (first, second) if b is None else (second, first)
            raise ValueError(
                "The two structures don't have the same nested structure.\n\n"
                f"First structure: type={type(first).__name__} str={first}\n\n"
                f"Second structure: type={type(second).__name__} str={second}\n\n"
                f'More specifically: Substructure "type={type(nested).__name__} str={nested}" is a'
                f' sequence, while substructure "type={type(leaf).__name__} str={leaf}" is not'
                f" ({which[0]} and {which[1]} differ)"
            )
        return
    if check_types and not _same_type(first, second):
        raise TypeError(
            "The two structures don't have the same sequence type. First structure has type"
            f" {type(first)}, while second structure has type {type(second)}."
        )
    if isinstance(first, Mapping) and isinstance(second, Mapping) and set(first) != set(second):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys"
            f" {sorted_keys(first)}, while second structure has keys {sorted_keys(second)}"
        )
    if len(a) != len(b):
        raise ValueError(
            "The two structures don't have the same number of elements.\n\n"
            f"First structure ({len(a)} elements): {first}\n\n"
            f"Second structure ({len(b)} elements): {second}"
        )
    for one, other in zip(a, b, strict=True):
        _assert_same(one, other, check_types, expand)


def _assert_same_spec(first: Any, second: Any) -> None:
    """Checks two specs, or a spec and a value."""
    spec = first if isinstance(first, PartedSpec) else second
    try:
        spec.nest_match(first, second)
    except ValueError as error:
        raise ValueError(
            f"The two structures don't have the same nested structure.\n\n{error}"
        ) from None


def _same_type(first: Any, second: Any) -> bool:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return True
    if type(first) is type(second):
        return True
    fields = [getattr(value, "_fields", None) for value in (first, second)]
    names = {type(value).__name__ for value in (first, second)}
    return fields[0] is not None and fields[0] == fields[1] and len(names) == 1


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """A nesting of what ``func`` makes of the leaves of nestings of one form.

    Args:
      func: takes one leaf of each.
      *structure: nestings of one form, or leaves.
      check_types: whether nestings must have one type (keyword; default True).
      expand_composites: whether composites are nestings (keyword; default False).

    >>> map_structure(lambda x, y: x + y, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(f"Only valid keywords are check_types and expand_composites; {kwargs}")
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    columns = [flatten(s, expand) for s in structure]
    made = [func(*leaves) for leaves in zip(*columns, strict=True)]
    return pack_sequence_as(structure[0], made, expand)


# ---- down to the leaves of a shallower nesting ---------------------------------------------------


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Checks that ``input_tree`` has the form of ``shallow_tree``, whose leaves may be nestings.

    Raises:
      TypeError: a nesting where there is none, or of another type.
      ValueError: another number of parts, or other keys.
    """
    shallow = parts_of(shallow_tree, expand_composites)
    if shallow is None:
        return
    deep = parts_of(input_tree, expand_composites)
    if deep is None:
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type:"
            f" {type(input_tree)}."
        )
    if check_types and not _same_type(shallow_tree, input_tree):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type"
            f" {type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    if len(shallow) != len(deep):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length"
            f" {len(deep)}, while shallow structure has length {len(shallow)}."
        )
    if isinstance(shallow_tree, Mapping) and set(shallow_tree) != set(input_tree):
        raise ValueError(
            "The two structures don't have the same keys. Input structure has keys"
            f" {list(input_tree)}, while shallow structure has keys {list(shallow_tree)}."
        )
    for one, other in zip(shallow, deep, strict=True):
        assert_shallow_structure(one, other, check_types, expand_composites)


def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """The parts of ``input_tree`` at the leaves of ``shallow_tree``.

    >>> flatten_up_to([0, 0], [[1, 2], (3,)])
    [[1, 2], (3,)]
    """
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)

    def walk(shallow: Any, deep: Any) -> Iterator[Any]:
        parts = parts_of(shallow, expand_composites)
        if parts is None:
            yield deep
            return
        for one, other in zip(parts, parts_of(deep, expand_composites) or (), strict=True):
            yield from walk(one, other)

    return list(walk(shallow_tree, input_tree))


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """A nesting as ``shallow_tree`` of what ``func`` makes of the parts at its leaves."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    columns = [flatten_up_to(shallow_tree, tree, **kwargs) for tree in inputs]
    made = [func(*parts) for parts in zip(*columns, strict=True)]
    return pack_sequence_as(shallow_tree, made)
