"""Arguments of layers brought to one form, under the names that programs import."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_LAYOUTS = {
    "channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"},
    "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"},
}


def normalize_tuple(value: Any, n: int, name: str) -> tuple[Any, ...]:
    """An int as ``n`` of them, or ``n`` ints as a tuple.

    Args:
      value: an int, or that many.
      n: how many there are to be.
      name: what the argument is called in errors.

    Raises:
      ValueError: it is neither.
    """
    if isinstance(value, int):
        return (value,) * n
    wrong = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    if not isinstance(value, Iterable):
        raise ValueError(wrong)
    made = tuple(value)
    if len(made) != n:
        raise ValueError(wrong)
    for each in made:
        try:
            int(each)
        except (ValueError, TypeError):
            raise ValueError(f"{wrong} including element {each} of type {type(each)}") from None
    return made


def _one_of(value: str, what: str, allowed: tuple[str, ...]) -> str:
    found = value.lower()
    if found not in allowed:
        either = ", ".join(f'"{each}"' for each in allowed)
        raise ValueError(f"The `{what}` argument must be one of {either}. Received: {value}")
    return found


def normalize_data_format(value: str) -> str:
    """``channels_first`` or ``channels_last``.

    Args:
      value: one of them, in letters of any case.

    Raises:
      ValueError: another word.
    """
    return _one_of(value, "data_format", ("channels_first", "channels_last"))


def normalize_padding(value: str) -> str:
    """``valid`` or ``same``.

    Args:
      value: one of them, in letters of any case.

    Raises:
      ValueError: another word.
    """
    return _one_of(value, "padding", ("valid", "same"))


def convert_data_format(data_format: str, ndim: int) -> str:
    """The layout that ``tf.nn`` knows.

    Args:
      data_format: ``channels_first`` or ``channels_last``.
      ndim: the rank of the tensor, 3 to 5.

    Raises:
      ValueError: another word or rank.

    >>> convert_data_format("channels_first", 4)
    'NCHW'
    """
    if data_format not in _LAYOUTS:
        raise ValueError(f"Invalid data_format: {data_format}")
    if ndim not in _LAYOUTS[data_format]:
        raise ValueError(f"Input rank not supported: {ndim}")
    return _LAYOUTS[data_format][ndim]


def _check_padding(padding: str) -> None:
    if padding not in ("same", "valid", "full"):
        raise AssertionError(f"padding must be same, valid or full; found {padding!r}")


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """How long the result of a convolution is.

    Args:
      input_length: of what it runs over; None where open.
      filter_size: of the filter.
      padding: ``same``, ``valid`` or ``full``.
      stride: of the filter.
      dilation: between its elements.

    >>> conv_output_length(10, 3, "valid", 2)
    4
    """
    if input_length is None:
        return None
    _check_padding(padding)
    reach = (filter_size - 1) * dilation
    more = {"same": 0, "valid": -reach, "full": reach}[padding]
    return (input_length + more + stride - 1) // stride


def conv_input_length(
    output_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """How long what a convolution runs over is at least.

    Args:
      output_length: of the result; None where open.
      filter_size, padding, stride: as of ``conv_output_length``.
    """
    if output_length is None:
        return None
    _check_padding(padding)
    around = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * around + filter_size


def deconv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """How long the result of a transposed convolution is.

    Args:
      input_length: of what it runs over; None where open.
      filter_size, padding, stride: as of ``conv_output_length``.
    """
    if input_length is None:
        return None
    more = {"valid": max(filter_size - stride, 0), "full": -(stride + filter_size - 2)}
    return input_length * stride + more.get(padding, 0)
