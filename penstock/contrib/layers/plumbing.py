"""What layers share: names of outputs in collections, sizes of dims, predicates known in advance.

It is ``slim.utils`` of TF 1.x.  State: the aliases of tensors, under which collections of end
points are read.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph import collecting
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.control_flow.cond import cond
from penstock.library.variables.variable import Variable

_ALIASES: weakref.WeakKeyDictionary[Any, list[str]] = weakref.WeakKeyDictionary()


class NamedOutputs(NamedTuple):
    """Outputs of a layer under a name.

    Attributes:
      name: the name.
      outputs: a tensor or a nesting of tensors.
    """

    name: str
    outputs: Any


# ---- names of outputs ----------------------------------------------------------------------------


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Gives ``outputs`` an alias and adds them to collections, if there are any.

    Args:
      collections: name of a collection, or a list of such; None or empty for none.
      alias: the name under which they are found.
      outputs: a tensor.

    Returns:
      ``outputs``.
    """
    if collections:
        append_tensor_alias(outputs, alias)
        collecting.add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Gives a tensor one more alias; a "/" at its end is dropped.

    Returns:
      The tensor.
    """
    _ALIASES.setdefault(tensor, []).append(alias[:-1] if alias[-1:] == "/" else alias)
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """The aliases of a tensor; its name, without ":0", where it has none."""
    known = _ALIASES.get(tensor)
    if known is not None:
        return known
    name: str = tensor.name
    return [name.removesuffix(":0")]


def gather_tensors_aliases(tensors: Any) -> list[str]:
    """The aliases of all tensors of a list, in order."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """What is in a collection by alias, in order.

    Args:
      collection: its name.
      clear_collection: whether it is emptied.
    """
    found = OrderedDict(
        (alias, tensor)
        for tensor in collecting.get_collection(collection)
        for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        del collecting.get_collection_ref(collection)[:]
    return found


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections for the variable ``name``.

    Args:
      variables_collections: a list for all variables, or a dictionary from names to lists.
      name: the variable's name.
    """
    if isinstance(variables_collections, dict):
        return variables_collections.get(name, None)
    return variables_collections


# ---- predicates ----------------------------------------------------------------------------------


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """A value, or that of a tensor which is known while the graph is built; else None.

    Args:
      value_or_tensor_or_var: a Python value, tensor or variable.
      dtype: the type that a tensor must have.

    Raises:
      ValueError: it is None, or of another type.
    """
    given = value_or_tensor_or_var
    if given is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(given, Tensor | Variable) and not hasattr(given, "handle"):
        return given
    if dtype and given.dtype != dtype:
        raise ValueError(f"It has the wrong type {given.dtype} instead of {dtype}")
    return static.constant_value(given) if isinstance(given, Tensor) else None


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """``fn1()`` where ``pred``, a Python value, holds; else ``fn2()``.

    Raises:
      TypeError: a function is not callable.
    """
    for name, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    return fn1() if pred else fn2()


def smart_cond(
    pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None
) -> Any:
    """``tf.cond``, or one branch alone where ``pred`` is known while the graph is built."""
    known = constant_value(pred)
    if known is not None:
        return static_cond(known, fn1, fn2)
    return cond(pred, fn1, fn2, name=name)


# ---- sizes ---------------------------------------------------------------------------------------


def _dimension(shape: Any, dim: int, min_rank: int) -> int:
    sizes = TensorShape(shape)
    if sizes.ndims is None:
        raise ValueError(f"dims of shape must be known but is {sizes.dims}")
    if sizes.ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {sizes.ndims}")
    value: int | None = sizes.as_list()[dim]
    if value is None:
        raise ValueError(f"dimension {dim} of shape must be known but is {value}: {sizes}")
    return value


def channel_dimension(shape: Any, data_format: str, min_rank: int = 1) -> int:
    """The size of the channels.

    Args:
      shape: a shape.
      data_format: "channels_first", "channels_last", or a form such as "NHWC".
      min_rank: the smallest rank that is allowed.

    Raises:
      ValueError: it is not known.
    """
    first = data_format == "channels_first" or data_format.startswith("NC")
    return _dimension(shape, 1 if first else -1, min_rank)


def last_dimension(shape: Any, min_rank: int = 1) -> int:
    """The size of the last dim.

    Args:
      shape: a shape.
      min_rank: the smallest rank that is allowed.

    Raises:
      ValueError: it is not known.
    """
    return _dimension(shape, -1, min_rank)


def two_element_tuple(int_or_tuple: Any) -> tuple[int, int]:
    """Two integers from one, which stands for both, or from a pair or shape of two.

    Raises:
      ValueError: something else.
    """
    if isinstance(int_or_tuple, TensorShape):
        int_or_tuple = int_or_tuple.as_list()
    if isinstance(int_or_tuple, list | tuple):
        if len(int_or_tuple) != 2:
            raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int(int_or_tuple), int(int_or_tuple)
    raise ValueError(
        "Must be an int, a list with 2 elements or a TensorShape of length 2; found"
        f" {int_or_tuple!r}"
    )


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """``n`` positive integers from one, which stands for all, or from a list or shape of ``n``.

    Raises:
      ValueError: ``n`` is not positive, or ``value`` is something else.
    """
    if int(n) != n or n < 1:
        raise ValueError(f"n must be a positive integer; found {n!r}")
    if isinstance(value, TensorShape):
        value = value.as_list() if value.ndims is not None else value
    if isinstance(value, int) and value > 0:
        return (value,) * int(n)
    if isinstance(value, list | tuple) and len(value) == n:
        found = tuple(int(one) for one in value)
        if min(found) > 0:
            return found
    raise ValueError(
        f"value must be a positive integer or a list of {n} positive integers; found {value!r}"
    )
