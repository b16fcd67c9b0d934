"""What Keras's layers, losses and metrics go by where a program does not say otherwise.

State of the process: the default type, the small number that keeps divisions and logarithms finite,
where images have their channels, and whether the program initializes variables itself.
"""

from __future__ import annotations

_FLOATS = ("float16", "float32", "float64")
_FORMATS = ("channels_last", "channels_first")

_floatx = "float32"
_epsilon = 1e-7
_image_data_format = "channels_last"
_manual_initialization = False


def floatx() -> str:
    """The default type: ``"float32"``, unless ``set_floatx`` was called."""
    return _floatx


def set_floatx(value: str) -> None:
    """Sets the default type.

    Args:
      value: ``"float16"``, ``"float32"`` or ``"float64"``.

    Raises:
      ValueError: another type.
    """
    global _floatx
    if value not in _FLOATS:
        raise ValueError(f"Unknown floatx type: {value}; it may be {', '.join(_FLOATS)}")
    _floatx = str(value)


def epsilon() -> float:
    """The small number that Keras adds: 1e-07, unless ``set_epsilon`` was called."""
    return _epsilon


def set_epsilon(value: float) -> None:
    """Sets the small number that Keras adds."""
    global _epsilon
    _epsilon = value


def image_data_format() -> str:
    """Where images have their channels: ``"channels_last"``, unless that was set."""
    return _image_data_format


def set_image_data_format(data_format: str) -> None:
    """Sets where images have their channels.

    Args:
      data_format: ``"channels_last"`` or ``"channels_first"``.

    Raises:
      ValueError: something else.
    """
    global _image_data_format
    if data_format not in _FORMATS:
        raise ValueError(f"Unknown data_format: {data_format}; it may be {', '.join(_FORMATS)}")
    _image_data_format = str(data_format)


def initializes_manually() -> bool:
    """Whether Keras's session leaves variables as they are."""
    return _manual_initialization


def manual_variable_initialization(value: bool) -> None:
    """Says whether the program itself initializes variables; by default Keras's session does."""
    global _manual_initialization
    _manual_initialization = value
