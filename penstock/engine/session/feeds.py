"""From what users feed to what programs take: no copy where dtype and layout allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import torch

from penstock.engine.runtime import values
from penstock.engine.session import handles
from penstock.engine.session.fetches import of_another_graph
from penstock.foundation.base import dtypes, errors, origin, shapes
from penstock.foundation.graph import nest
from penstock.foundation.graph.composite import CompositeTensor, IndexedSlices, SparseTensor
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TypeSpec

Converter = Callable[[Any], Any]


def converter(tensor: Tensor) -> Converter:
    """A function that takes a value fed for ``tensor`` to a run-time value.

    The function raises TypeError or ValueError, naming the tensor, when the value does not fit.
    """
    base = tensor.dtype.base_dtype
    if base is dtypes.string:
        return lambda value: _feed_strings(tensor, value)
    wanted = values.torch_dtype(base)
    if wanted is None:
        return lambda value: value
    return _numeric_converter(tensor, wanted, np.dtype(dtypes.stored_as(base).as_numpy_dtype))


def _numeric_converter(tensor: Tensor, wanted: torch.dtype, numpy_dtype: np.dtype) -> Converter:
    dims = tensor.sizes
    known = dims if dims is not None and None not in dims else None
    from_numpy = torch.from_numpy
    is_bfloat16 = numpy_dtype == ml_dtypes.bfloat16
    scalar = float if wanted.is_floating_point and not is_bfloat16 else None
    array_of = np.array

    def convert(value: Any) -> Any:
        kind = type(value)
        if kind is np.ndarray and value.dtype == numpy_dtype and not is_bfloat16:
            try:
                made = from_numpy(value if value.flags.writeable else values.said_writable(value))
            except ValueError:  # negative strides, or not native byte order
                made = from_numpy(np.ascontiguousarray(value))
        elif kind is scalar:
            made = from_numpy(array_of(value, numpy_dtype))
        else:
            made = _slow(tensor, value, wanted, numpy_dtype)
        if known is None:
            if dims is not None:
                _check_dims(tensor, made, dims)
        elif tuple(made.shape) != known:
            _wrong_shape(tensor, made.shape)
        return made

    return convert


def _slow(tensor: Tensor, value: Any, wanted: torch.dtype, numpy_dtype: np.dtype) -> Any:
    if isinstance(value, handles.TensorHandle):
        value = handles.fed(tensor, value)
    if isinstance(value, torch.Tensor):
        value = value.detach()
        return value if value.dtype is wanted else value.to(wanted)
    if isinstance(value, Tensor | Operation):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object: feeds are Python numbers, lists,"
            " NumPy arrays or torch tensors (run the tensor first to feed its value);"
            f" {tensor.name} was fed {value!r}"
        )
    if isinstance(value, int) and not isinstance(value, bool) and numpy_dtype.kind in "biu":
        least, most = (0, 1) if numpy_dtype.kind == "b" else _ends(numpy_dtype)
        if not least <= value <= most:
            raise TypeError(
                f"Type of feed value {value} with type {type(value)} is not compatible with Tensor"
                f" type {numpy_dtype.type}: it does not fit {tensor.name}. Try explicitly setting"
                " the type of the feed tensor to a larger type (e.g. int64)."
            )
    if numpy_dtype.kind in "iu":
        _warn_of_fractions(tensor, value)
    try:
        array = np.asarray(value, dtype=numpy_dtype)
    except (TypeError, ValueError) as error:
        kind = type(error)
        raise kind(
            f"the value fed for {tensor.name} ({tensor.dtype.name}"
            f"{shapes.format_static(tensor.sizes)}) cannot become an array of it: {error}"
        ) from None
    if not array.dtype.isnative or any(s < 0 for s in array.strides):
        array = np.ascontiguousarray(array.astype(numpy_dtype.newbyteorder("=")))
    return values.from_array(array) if array.flags.writeable else values.from_array(array.copy())


def _warn_of_fractions(tensor: Tensor, value: Any) -> None:
    """As in TensorFlow they are cut off, but not in silence."""
    given = np.asarray(value)
    if given.dtype.kind != "f":
        return
    lost = given[np.isfinite(given) & (np.trunc(given) != given)]
    if lost.size:
        origin.warn(
            f"what is fed for {tensor.name} is cut to whole numbers, since that is"
            f" {tensor.dtype.name}: {lost.size} of {given.size} values have a fraction,"
            f" {lost.flat[0]} for one; feed whole numbers, or make it float32"
        )


def _check_dims(tensor: Tensor, made: torch.Tensor, dims: tuple[int | None, ...]) -> None:
    shape = made.shape
    if len(shape) != len(dims):
        _wrong_shape(tensor, shape)
    for have, want in zip(shape, dims, strict=True):
        if want is not None and have != want:
            _wrong_shape(tensor, shape)


def _wrong_shape(tensor: Tensor, shape: Any) -> None:
    raise ValueError(
        f"Cannot feed value of shape {tuple(shape)} for Tensor {tensor.name!r}, which has shape"
        f" '{shapes.format_static(tensor.sizes)}'"
    )


def _feed_strings(tensor: Tensor, value: Any) -> Any:
    if isinstance(value, handles.TensorHandle):
        value = handles.fed(tensor, value)
    array = np.asarray(value, dtype=object)
    encoded = np.empty(array.shape, dtype=object)
    for index, item in np.ndenumerate(array):
        if isinstance(item, str):
            encoded[index] = item.encode()
        elif isinstance(item, bytes | np.bytes_):
            encoded[index] = bytes(item)
        else:
            raise TypeError(f"{tensor.name} is string; {item!r} was fed")
    dims = tensor.sizes
    if dims is not None and not shapes.is_compatible_static(dims, encoded.shape):
        _wrong_shape(tensor, encoded.shape)
    return encoded


def expand(graph: Graph, feed_dict: Any) -> list[tuple[Any, Callable[[Any], Any], Tensor]]:
    """What a feed dictionary feeds.

    Args:
      graph: the session's graph.
      feed_dict: keys are tensors, names, SparseTensors, IndexedSlices, or tuples of those, nested
        as deep as one likes, with values in as many places.

    Returns:
      For each tensor fed: its key in the dictionary, how to get its part from the key's value, and
      the tensor.

    Raises:
      TypeError: a key that cannot be fed.
      ValueError: a tensor that is not feedable, or fed twice.
    """
    result: list[tuple[Any, Callable[[Any], Any], Tensor]] = []
    seen: set[Tensor] = set()
    for key in feed_dict:
        for part, pick in _picked(key):
            try:
                tensor = graph.as_graph_element(part, allow_operation=False)
            except (TypeError, ValueError, KeyError) as error:
                reason = error.args[0] if error.args else error
                raise TypeError(
                    f"Cannot interpret feed_dict key as Tensor: {reason} (of the key {key!r})"
                    f"{of_another_graph(graph, part)}"
                ) from None
            if not graph.is_feedable(tensor):
                raise ValueError(f"tensor {tensor.name!r} may not be fed")
            if tensor in seen:
                raise ValueError(f"tensor {tensor.name!r} is fed twice")
            seen.add(tensor)
            result.append((key, pick, tensor))
    return result


def _identity(value: Any) -> Any:
    return value


def _item(index: int) -> Callable[[Any], Any]:
    return lambda value: value[index]


def parts(key: Any) -> list[Any]:
    """The tensors (or their names) that a key of a feed dictionary feeds."""
    return [part for part, _ in _picked(key)]


def _picked(key: Any) -> list[tuple[Any, Callable[[Any], Any]]]:
    if isinstance(key, tuple):
        leaves = nest.flatten(key)
        return [
            (part, _leaf_part(key, len(leaves), index, pick))
            for index, leaf in enumerate(leaves)
            for part, pick in _picked(leaf)
        ]
    if isinstance(key, SparseTensor):
        components: tuple[Any, ...] = (key.indices, key.values, key.dense_shape)
        if key.dense_shape.op.op_def.role == "constant":
            return [(part, _of_known_shape(key, i)) for i, part in enumerate(components[:2])]
        return [(part, _sparse_part(part, i)) for i, part in enumerate(components)]
    if isinstance(key, CompositeTensor):
        spec = key._type_spec
        return [(part, _component(spec, i)) for i, part in enumerate(spec._to_components(key))]
    if isinstance(key, IndexedSlices):
        components = (key.values, key.indices, key.dense_shape)
        return [(part, _item(i)) for i, part in enumerate(components) if part is not None]
    return [(key, _identity)]


def _component(spec: TypeSpec, index: int) -> Callable[[Any], Any]:
    return lambda value: spec._to_components(value)[index]


def keys_of_list(feed_list: Any) -> list[Any]:
    """The keys of what a callable is fed, in the order of its arguments."""
    if feed_list is not None and not isinstance(feed_list, list | tuple):
        raise TypeError(f"`feed_list` must be a list or tuple.: found {feed_list!r}")
    return list(feed_list or ())


def _ends(dtype: np.dtype[Any]) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _sparse_part(part: Any, index: int) -> Callable[[Any], Any]:
    """A part of three, of which the shape must not be left out."""

    def picked(value: Any) -> Any:
        if index >= len(value):
            raise errors.invalid(
                f"You must feed a value for placeholder tensor {part.op.name!r} with dtype"
                f" {part.dtype.name}: a sparse placeholder whose shape is not known takes (indices,"
                f" values, dense_shape); found {len(value)} part(s)"
            )
        return value[index]

    return picked


def _of_known_shape(key: SparseTensor, index: int) -> Callable[[Any], Any]:
    """A part of a pair, or of three parts of which the last is the shape that is known."""
    shape = key.dense_shape.op.attrs["value"]

    def picked(value: Any) -> Any:
        if len(value) > 2 and not np.array_equal(value[2], shape):
            raise ValueError(
                f"Tensor {key.dense_shape} may not be fed: it is the constant {shape.tolist()};"
                f" {value[2]!r} was given"
            )
        return value[index]

    return picked


def _leaf_part(
    key: Any, count: int, index: int, pick: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    def picked(value: Any) -> Any:
        leaves = nest.flatten(value)
        if len(leaves) != count:
            raise ValueError(
                f"Could not flatten dictionary. Key had {count} elements, but value had"
                f" {len(leaves)} elements. Key: {key}, value: {value}."
            )
        return pick(leaves[index])

    return picked


def composed(pick: Callable[[Any], Any], tensor: Tensor) -> Callable[[Any], Any]:
    """What picks a part of a value and converts it for its tensor."""
    convert = converter(tensor)
    if pick is _identity:
        return convert
    return lambda value: convert(pick(value))
