"""Constants and placeholders, and how Python values become constants.

Element types are chosen as TF chooses them: Python floats are float32, Python ints int32 where they
fit and int64 where not, strings and bytes are string; NumPy arrays keep theirs.  Ints that do not
fit the type asked for are taken modulo its range by ``constant`` and ``make_tensor_proto``, as TF
takes them; an operand that does not fit the other's type is an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, from_attr, show

_NUMBERS = frozenset((float, int, bool))


def _const_shape(ctx: ShapeContext) -> tuple[int, ...]:
    return tuple(ctx.attr("value").shape)


define_op(
    "Const",
    "-> output: dtype",
    attrs=["value: tensor", "dtype: type"],
    shape=_const_shape,
    fold=lambda ctx: ctx.attr("value"),
    role="constant",
    no_gradient="a constant has no inputs",
    on_host=True,
)


def _no_value(dtype: Any) -> Any:
    raise ValueError("a placeholder must be fed a value: give one in feed_dict")


define_op(
    "Placeholder",
    "-> output: dtype",
    attrs=["dtype: type", "shape: shape = null"],
    shape=from_attr("shape"),
    kernel=_no_value,
    stateful=True,
    role="placeholder",
    no_gradient="a placeholder has no inputs",
)

define_op(
    "PlaceholderV2",
    "-> output: dtype",
    attrs=["dtype: type", "shape: shape"],
    shape=from_attr("shape"),
    kernel=_no_value,
    stateful=True,
    role="placeholder",
    no_gradient="a placeholder has no inputs",
)


def _default_shape(ctx: ShapeContext) -> Dims:
    shape, given = ctx.attr("shape").sizes, ctx["input"]
    if not shapes.is_compatible_static(shape, given):
        raise ValueError(
            f"Shapes must be equal: the default has shape {show(given)}; shape says {show(shape)}"
        )
    return shape


define_op(
    "PlaceholderWithDefault",
    "input: dtype -> output: dtype",
    attrs=["dtype: type", "shape: shape"],
    shape=_default_shape,
    kernel="{input}",
    aliases=("input",),
    role="default",
    gradient=lambda op, grad: grad,
    moves=True,
)


def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A tensor that holds ``value``.

    Args:
      value: number, (nested) sequence, string, bytes or NumPy array.
      dtype: element type; by default read off the value.
      shape: shape of the result; a value with fewer elements is filled up with its last one.
      verify_shape: whether ``value`` must have ``shape`` exactly.

    Returns:
      A constant tensor.

    Raises:
      TypeError: the value is not of ``dtype``.
      ValueError: too many elements for ``shape``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.constant([[1.0, 2.0]]).shape.as_list()
      [1, 2]
    """
    if shape is None and type(value) in _NUMBERS:
        graph = get_default_graph()
        if graph.executes:
            return graph.number_apart(value, dtype, constant_array)
    array = constant_array(value, dtype)
    if shape is not None:
        array = _filled(array, shapes.as_shape(shape), verify_shape)
    return make("Const", name=name, value=array, dtype=dtype_of(array, dtype))


def constant_array(value: Any, dtype: Any) -> np.ndarray:
    """The array of a constant that is asked for, not of a value that becomes one."""
    return to_array(value, dtype, wraps=True)


def dtype_of(array: np.ndarray, dtype: Any) -> dtypes.DType:
    """The DType of a constant array; object arrays are strings."""
    if dtype is not None:
        return dtypes.as_dtype(dtype).base_dtype
    return dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)


def other_shape(array: np.ndarray, dims: tuple[int, ...]) -> TypeError:
    return TypeError(f"Expected Tensor's shape: {dims}, got {array.shape}.")


def check_size(array: np.ndarray, size: int) -> None:
    if array.size > size:
        raise ValueError(
            f"Too many elements provided. Needed at most {size}, but received {array.size}"
        )


def _filled(array: np.ndarray, shape: shapes.TensorShape, verify: bool) -> np.ndarray:
    dims = tuple(shape.as_list())
    if array.shape == dims:
        return array
    if verify:
        raise other_shape(array, dims)
    size = int(np.prod(dims, dtype=np.int64))
    if not size:
        return np.empty(dims, array.dtype)  # TF takes any value for it: tf.zeros([0]) needs one
    check_size(array, size)
    if array.size == 0:  # there is no last value to go on with
        return np.full(dims, b"" if array.dtype == object else 0, array.dtype)
    flat = array.ravel()
    if array.size < size:
        flat = np.concatenate([flat, np.repeat(flat[-1:], size - array.size)])
    return flat.reshape(dims)


def to_array(value: Any, dtype: Any = None, wraps: bool = False) -> np.ndarray:
    """The NumPy array that a constant of ``value`` holds.

    Args:
      value: what ``constant`` takes.
      dtype: element type; by default read off the value.
      wraps: whether Python ints are taken modulo the range of ``dtype``.

    Raises:
      TypeError: the value does not fit ``dtype``.
      ValueError: None, or nested sequences of unequal lengths.
    """
    wanted = dtypes.as_dtype(dtype).base_dtype if dtype is not None else None
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray | np.generic):
        return _from_numpy(np.asarray(value), wanted)
    if wanted is not None and not wanted.is_integer:
        _check_no_dimension(value, wanted)
    if isinstance(value, shapes.TensorShape):
        value = value.as_list()
    if value is None:
        raise ValueError("None values not supported.")
    if wanted is not None and wanted.is_quantized and _only_tuples(value):
        return np.array(value, wanted.as_numpy_dtype)
    value = _plain(value)
    if isinstance(value, np.ndarray):
        return _from_numpy(value, wanted)
    kinds = _kinds(value)
    if not kinds and wanted is dtypes.string:
        return np.empty(np.shape(value), object)
    if kinds & {"str"}:
        if kinds != {"str"}:
            raise _no_tensor(value)
        if wanted not in (None, dtypes.string):
            raise _not_of(wanted, value)
        return _strings(value)
    if None in kinds or "other" in kinds:
        raise _no_tensor(value) if wanted is None else _not_of(wanted, value)
    _check_kinds(kinds, wanted, value)
    array = _regular(value)
    if wanted is not None:
        return _cast_python(array, wanted, value, wraps)
    if array.dtype == object:  # ints beyond 64 bits
        raise _no_tensor(value)
    if array.dtype == np.uint64:
        return array.astype(np.uint64)  # NumPy may have made it the other C type of 64 bits
    # Sequences of NumPy's scalars are no other than Python's: only an array keeps its 64 bits.
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64:
        narrow = array.astype(np.int32)
        return narrow if np.array_equal(narrow, array) else array
    return array


def _no_tensor(value: Any) -> TypeError:
    return TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents:"
        f" {convert.shorten(value)}. Consider casting elements to a supported type."
    )


def _not_of(wanted: dtypes.DType, value: Any) -> TypeError:
    """The error for the first element that ``wanted`` cannot hold."""
    leaf = value
    while isinstance(leaf, list):
        leaf = next((item for item in leaf if not _holds(wanted, item)), leaf[0])
    return TypeError(
        f"Expected {wanted.name}, got {leaf!r} of type '{type(leaf).__name__}' instead."
    )


def _holds(wanted: dtypes.DType, value: Any) -> bool:
    """Whether Python's ``value`` may be an element, or a list of elements, of ``wanted``."""
    if isinstance(value, list):
        return all(_holds(wanted, item) for item in value)
    kind = next(iter(_kinds(value) - {"np"}))
    return kind in _HELD[_class_of(wanted)]


# The kinds of leaves that elements of each class can be.
_HELD = {
    "bool": {"b"}, "whole": {"b", "i", "u"}, "float": {"b", "i", "u", "f"},
    "complex": {"b", "i", "u", "f", "c"}, "string": {"str"}, "quantized": set[str](),
}  # fmt: skip


def _class_of(dtype: dtypes.DType) -> str:
    if dtype.is_quantized:
        return "quantized"
    if dtype.is_bool:
        return "bool"
    if dtype.is_complex:
        return "complex"
    if dtype.is_integer:
        return "whole"
    return "float" if dtype.is_floating else "string"


def _only_tuples(value: Any) -> bool:
    """Whether all elements are tuples of one int, which is how elements of quantized types look."""
    if isinstance(value, list) and value:
        return all(_only_tuples(item) for item in value)
    return isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], int)


def _check_no_dimension(value: Any, wanted: dtypes.DType) -> None:
    """A dimension, which is a number of elements, becomes no other number by itself."""
    if isinstance(value, dimension.Dimension | shapes.TensorShape):
        kind = type(value).__name__
        raise TypeError(f"Expected {wanted.name}, got {value!r} of type {kind!r} instead.")
    if isinstance(value, list | tuple):
        for item in value:
            _check_no_dimension(item, wanted)


def _plain(value: Any) -> Any:
    if isinstance(value, dimension.Dimension):
        if value.value is None:
            raise ValueError("Cannot convert an unknown Dimension to a Tensor: ?")
        return value.value
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, range):
        return list(value)
    if hasattr(value, "__array__") and not isinstance(value, Tensor | np.ndarray | np.generic):
        return np.asarray(value)
    return value


def _kinds(value: Any) -> set[Any]:
    """What Python kinds of leaves ``value`` has; ``np`` marks NumPy leaves, with a type."""
    if isinstance(value, list):
        result: set[Any] = set()
        for item in value:
            result |= _kinds(item)
        return result
    if isinstance(value, str | bytes):
        return {"str"}
    if isinstance(value, np.ndarray | np.generic):
        return {"str"} if value.dtype.kind in "OSU" else {"np", value.dtype.kind}
    if isinstance(value, bool):
        return {"b"}
    if isinstance(value, int):
        return {"i"}
    if isinstance(value, float):
        return {"f"}
    if isinstance(value, complex):
        return {"c"}
    return {None if value is None else "other"}


def _check_kinds(kinds: set[Any], wanted: dtypes.DType | None, value: Any) -> None:
    if wanted is not None and kinds - _HELD[_class_of(wanted)] - {"np"}:
        raise _not_of(wanted, value)


def _regular(value: Any) -> np.ndarray:
    try:
        return np.array(value)
    except ValueError as error:
        raise ValueError(
            f"Argument must be a dense tensor: {convert.shorten(value)} - nested sequences of"
            " unequal lengths cannot become one"
        ) from error


def _cast_python(array: np.ndarray, wanted: dtypes.DType, value: Any, wraps: bool) -> np.ndarray:
    kept = dtypes.stored_as(wanted)
    if array.dtype == object and kept.is_integer:
        raise _no_tensor(value)
    if kept.is_integer and array.size and array.dtype.kind in "iu" and not wraps:
        info = np.iinfo(kept.as_numpy_dtype)
        if array.min() < info.min or array.max() > info.max:
            raise TypeError(f"{convert.shorten(value)} does not fit {wanted.name}")
    return array.astype(wanted.as_numpy_dtype)


def _from_numpy(array: np.ndarray, wanted: dtypes.DType | None) -> np.ndarray:
    if array.dtype.kind in "SUO":
        if wanted not in (None, dtypes.string):
            raise TypeError(f"an array of {array.dtype} cannot become {wanted.name}")
        return _strings(array)
    if wanted is None:
        return np.array(array)
    if wanted is dtypes.string:
        if not array.size:
            return np.empty(array.shape, object)
        raise TypeError(f"an array of {array.dtype} cannot become string")
    return array.astype(wanted.as_numpy_dtype)


def _strings(value: Any) -> np.ndarray:
    def encode(item: Any) -> Any:
        if isinstance(item, list):
            return [encode(i) for i in item]
        if isinstance(item, np.ndarray | np.generic):
            return encode(item.tolist())
        if isinstance(item, str):
            return item.encode()
        if isinstance(item, bytes):
            return item
        raise TypeError(f"{item!r} is neither str nor bytes; string is wanted")

    encoded = encode(value)
    shape: list[int] = []
    probe = encoded
    while isinstance(probe, list):
        shape.append(len(probe))
        probe = probe[0] if probe else None
    result = np.empty(shape, dtype=object)
    if not shape:
        result[()] = encoded
        return result
    flat = _flatten(encoded, len(shape))
    if len(flat) != result.size:
        raise ValueError(
            "Argument must be a dense tensor: nested sequences of unequal lengths cannot become one"
        )
    if not flat:
        # An array may have dims behind an empty one, which lists cannot show.
        return np.empty(np.shape(value), dtype=object)
    result.ravel()[:] = flat
    return result


def _flatten(value: Any, depth: int) -> list[Any]:
    if depth == 1:
        return list(value)
    return [leaf for item in value for leaf in _flatten(item, depth - 1)]


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor whose value is fed at every run.

    Args:
      dtype: element type.
      shape: what is known of the shape; None for nothing.

    Returns:
      A tensor that must be fed.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.placeholder(tf.float32, [None, 3]).shape.as_list()
      [None, 3]
    """
    return make("Placeholder", name=name, dtype=dtype, shape=shapes.as_shape(shape))


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """A tensor that is ``input`` unless it is fed.

    Args:
      input: the default value.
      shape: what the shape of fed values must be compatible with.

    Returns:
      A tensor of the type of ``input``.

    Example:
      >>> import penstock as tf
      >>> keep = tf.placeholder_with_default(1.0, [], name="keep")
      >>> with tf.Session() as session:
      ...     float(session.run(keep)), float(session.run(keep, {keep: 0.5}))
      (1.0, 0.5)
    """
    return make("PlaceholderWithDefault", input, name=name, shape=shapes.as_shape(shape))


def _convert_constant(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False):
    if type(value) in _NUMBERS:
        graph = get_default_graph()
        if graph.executes:
            return graph.number_apart(value, dtype, to_array)
    if _holds_tensor(value):
        return NotImplemented
    if isinstance(value, dimension.Dimension) and dtype is not None:
        wanted = dtypes.as_dtype(dtype)
        if wanted not in (dtypes.int32, dtypes.int64):
            raise TypeError(f"Cannot convert a TensorShape to dtype: {wanted!r}: nor a Dimension")
    array = to_array(value, dtype)
    return make("Const", name=name or "Const", value=array, dtype=dtype_of(array, dtype))


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_tensor(v) for v in value)
    return isinstance(value, Tensor) or getattr(value, "_is_dense_tensor_like", False)


def _convert_shape(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False):
    if not value.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
    fits = max(value.as_list(), default=0) < 2**31
    kind = dtypes.int32 if fits else dtypes.int64
    wanted = kind if dtype is None else dtypes.as_dtype(dtype)
    if wanted not in (dtypes.int32, dtypes.int64):
        raise TypeError(
            f"Cannot convert a TensorShape to dtype: {wanted!r}: a shape becomes int32 or int64"
        )
    if wanted is dtypes.int32 and not fits:
        raise ValueError(
            f"Cannot convert a TensorShape to dtype int32; a dimension is too large: {value}"
        )
    return constant(value.as_list(), wanted, [value.rank], name=name or "shape_as_tensor")


convert.register_tensor_conversion_function(shapes.TensorShape, _convert_shape, 90)
convert.register_tensor_conversion_function(object, _convert_constant, 200)
