"""Leaves of nestings with the way to them: the keys, names of fields and numbers on it.

A composite that is expanded is one step of the way, by the name of its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.foundation.graph import nest

__all__ = [
    "flatten_dict_items", "flatten_with_joined_string_paths", "flatten_with_tuple_paths",
    "flatten_with_tuple_paths_up_to", "get_traverse_shallow_structure", "is_namedtuple",
    "map_structure_with_paths", "map_structure_with_tuple_paths",
    "map_structure_with_tuple_paths_up_to", "yield_flat_paths",
]  # fmt: skip

Path = tuple[Any, ...]


def is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Whether a value is a namedtuple.

    Args:
      instance: any value.
      strict: whether it is to be of a class that was made as one, not of one derived from it.
    """
    kind = type(instance)
    if not isinstance(instance, tuple) or (strict and kind.__base__ is not tuple):
        return False
    fields = getattr(instance, "_fields", None)
    return isinstance(fields, Sequence) and all(isinstance(field, str) for field in fields)


def _steps(value: Any, expand: bool) -> list[tuple[Path, Any]] | None:
    """The parts of a nesting, each with the steps that lead to it; None of a leaf."""
    if expand and nest.is_composite(value):
        kind = type(value).__name__
        return [((kind, i), part) for i, part in enumerate(nest.components(value))]
    if expand and nest.is_composite_spec(value):
        return [((value.value_type.__name__,), value._component_specs)]
    parts = nest.parts_of(value, expand)
    if parts is None:
        return None
    if isinstance(value, Mapping):
        keys: Any = nest.sorted_keys(value)
    else:
        keys = getattr(value, "_fields", range(len(parts)))
    return [((key,), part) for key, part in zip(keys, parts, strict=True)]


def _paths(shallow: Any, expand: bool, path: Path = ()) -> Iterator[Path]:
    steps = _steps(shallow, expand)
    if steps is None:
        yield path
        return
    for step, part in steps:
        yield from _paths(part, expand, path + step)


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[Path]:
    """The way to each leaf, in the order of ``flatten``.

    >>> list(yield_flat_paths({"b": [5, 6], "a": 7}))
    [('a',), ('b', 0), ('b', 1)]
    """
    return _paths(nest, expand_composites)


def flatten_with_tuple_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[Path, Any]]:
    """The leaves of ``structure``, each after the way to it.

    >>> flatten_with_tuple_paths({"b": [5, 6], "a": 7})
    [(('a',), 7), (('b', 0), 5), (('b', 1), 6)]
    """
    leaves = nest.flatten(structure, expand_composites)
    return list(zip(_paths(structure, expand_composites), leaves, strict=True))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """The leaves of ``structure``, each after the way to it as text.

    >>> flatten_with_joined_string_paths({"b": [5, 6], "a": 7})
    [('a', 7), ('b/0', 5), ('b/1', 6)]
    """
    pairs = flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in pairs]


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[tuple[Path, Any]]:
    """The parts of ``input_tree`` at the leaves of ``shallow_tree``, each after the way to it.

    Raises:
      TypeError, ValueError: ``input_tree`` does not have the form of ``shallow_tree``.

    >>> flatten_with_tuple_paths_up_to([0, {"a": 0}], [[1, 2], {"a": 3}])
    [((0,), [1, 2]), ((1, 'a'), 3)]
    """
    parts = nest.flatten_up_to(shallow_tree, input_tree, check_types, expand_composites)
    return list(zip(_paths(shallow_tree, expand_composites), parts, strict=True))


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """A nesting as ``shallow_tree`` of what ``func`` makes of the way and the parts at its leaves.

    Args:
      shallow_tree: the nesting.
      func: takes the way, and a part of each of ``inputs``.
      *inputs: nestings of its form, or deeper.
      **kwargs: ``check_types`` and ``expand_composites`` as for ``flatten_up_to``; others are
        ``func``'s.

    Raises:
      TypeError, ValueError: an input does not have the form of ``shallow_tree``, or there is none.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    columns = [nest.flatten_up_to(shallow_tree, tree, check_types, expand) for tree in inputs]
    rows = zip(_paths(shallow_tree, expand), *columns, strict=True)
    made = [func(path, *parts, **kwargs) for path, *parts in rows]
    return nest.pack_sequence_as(shallow_tree, made, expand)


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """A nesting of what ``func`` makes of the way and the leaves of nestings of one form.

    >>> map_structure_with_tuple_paths(lambda path, x: (path[-1], x), {"a": [5]})
    {'a': [(0, 5)]}
    """
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """As ``map_structure_with_tuple_paths``, with the way as text.

    >>> map_structure_with_paths(lambda path, x: f"{path}={x}", {"a": [5]})
    {'a': ['a/0=5']}
    """

    def with_text(path: Path, *parts: Any, **options: Any) -> Any:
        return func("/".join(map(str, path)), *parts, **options)

    return map_structure_with_tuple_paths_up_to(structure[0], with_text, *structure, **kwargs)


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """A shallower nesting of bools: where ``traverse_fn`` says to go on, and at leaves its answer.

    Args:
      traverse_fn: takes a part; returns a bool, or a nesting of bools for the parts of the part.
      structure: the nesting.
      expand_composites: whether composites are nestings.

    Raises:
      TypeError: ``traverse_fn`` returns something else.
    """
    answer = traverse_fn(structure)
    parts = nest.parts_of(structure, expand_composites)
    if parts is None:
        if not isinstance(answer, bool):
            raise TypeError(
                f"traverse_fn returned structure: {answer} for non-structure: {structure}"
            )
        return answer
    if answer is False:
        return False
    each = [True] * len(parts)
    if answer is not True:
        each = _answers(answer, structure, expand_composites)
    below = [
        goes_on and get_traverse_shallow_structure(traverse_fn, part, expand_composites)
        for goes_on, part in zip(each, parts, strict=True)
    ]
    return nest.like(structure, below)


def _answers(answer: Any, structure: Any, expand: bool) -> list[bool]:
    each = nest.parts_of(answer, expand)
    if each is None:
        raise TypeError(f"traverse_fn returned a non-bool scalar: {answer} for input: {structure}")
    nest.assert_shallow_structure(answer, structure, expand_composites=expand)
    if not all(isinstance(one, bool) for one in each):
        raise TypeError(
            f"traverse_fn didn't return a depth=1 structure of bools.  saw: {answer}  for"
            f" structure: {structure}"
        )
    return each


def flatten_dict_items(dictionary: Mapping[Any, Any]) -> dict[Any, Any]:
    """A dict of single keys and values, of one where both may be nestings of one form.

    Raises:
      TypeError: ``dictionary`` is none.
      ValueError: a key comes twice, or has another number of parts than its value.

    >>> flatten_dict_items({(4, 5): ("a", "b"), 6: "c"})
    {4: 'a', 5: 'b', 6: 'c'}
    """
    if not isinstance(dictionary, Mapping):
        raise TypeError(f"input must be a dictionary; found {type(dictionary).__name__}")
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = [key], [value]
        if nest.is_sequence(key):
            keys, values = nest.flatten(key), nest.flatten(value)
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had"
                f" {len(values)} elements. Key: {keys}, value: {values}."
            )
        for one, other in zip(keys, values, strict=True):
            if one in flat:
                raise ValueError(f"Could not flatten dictionary: key {one} is not unique.")
            flat[one] = other
    return flat
