"""``tf.flags``: flags of the command line, by absl.

Two things differ from absl's, as in TensorFlow 1.15: reading a flag parses ``sys.argv`` where
nobody has yet, and the functions take the names that arguments had in TensorFlow 1.0.

``absl.app`` is imported before a program can define flags: a ``log_dir`` of its own, which many
programs have, then replaces absl's. (TensorFlow 1.15 refuses it as defined twice.)

State: absl's flags, of which there is one set in the process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import absl.app  # noqa: F401  defines its own flags
from absl import flags as absl_flags
from absl.flags import (
    DEFINE,
    ArgumentParser,
    ArgumentSerializer,
    BaseListParser,
    BooleanFlag,
    BooleanParser,
    CantOpenFlagFileError,
    CsvListSerializer,
    DEFINE_alias,
    DEFINE_enum,
    DEFINE_enum_class,
    DEFINE_flag,
    DEFINE_list,
    DEFINE_multi,
    DEFINE_multi_enum,
    DEFINE_multi_enum_class,
    DEFINE_multi_float,
    DEFINE_multi_integer,
    DEFINE_multi_string,
    DEFINE_spaceseplist,
    DuplicateFlagError,
    EnumClassFlag,
    EnumClassListSerializer,
    EnumClassParser,
    EnumClassSerializer,
    EnumFlag,
    EnumParser,
    Error,
    Flag,
    FlagHolder,
    FlagNameConflictsWithMethodError,
    FlagValues,
    FloatParser,
    IllegalFlagValueError,
    IntegerParser,
    ListParser,
    ListSerializer,
    MultiEnumClassFlag,
    MultiFlag,
    UnparsedFlagAccessError,
    UnrecognizedFlagError,
    ValidationError,
    WhitespaceSeparatedListParser,
    adopt_module_key_flags,
    declare_key_flag,
    disclaim_key_flags,
    doc_to_help,
    flag_dict_to_args,
    get_help_width,
    mark_bool_flags_as_mutual_exclusive,
    mark_flag_as_required,
    mark_flags_as_mutual_exclusive,
    mark_flags_as_required,
    multi_flags_validator,
    override_value,
    register_multi_flags_validator,
    register_validator,
    set_default,
    text_wrap,
    validator,
)

from penstock.foundation.base.decorators import decorates

__all__ = [
    "ArgumentParser", "ArgumentSerializer", "BaseListParser", "BooleanFlag", "BooleanParser",
    "CantOpenFlagFileError", "CsvListSerializer", "DEFINE", "DEFINE_alias", "DEFINE_bool",
    "DEFINE_boolean", "DEFINE_enum", "DEFINE_enum_class", "DEFINE_flag", "DEFINE_float",
    "DEFINE_integer", "DEFINE_list", "DEFINE_multi", "DEFINE_multi_enum",
    "DEFINE_multi_enum_class", "DEFINE_multi_float", "DEFINE_multi_integer", "DEFINE_multi_string",
    "DEFINE_spaceseplist", "DEFINE_string", "DuplicateFlagError", "EnumClassFlag",
    "EnumClassListSerializer", "EnumClassParser", "EnumClassSerializer", "EnumFlag", "EnumParser",
    "Error", "FLAGS", "Flag", "FlagHolder", "FlagNameConflictsWithMethodError", "FlagValues",
    "FloatParser", "IllegalFlagValueError", "IntegerParser", "ListParser", "ListSerializer",
    "MultiEnumClassFlag", "MultiFlag", "UnparsedFlagAccessError", "UnrecognizedFlagError",
    "ValidationError", "WhitespaceSeparatedListParser", "adopt_module_key_flags",
    "declare_key_flag", "disclaim_key_flags", "doc_to_help", "flag_dict_to_args", "get_help_width",
    "mark_bool_flags_as_mutual_exclusive", "mark_flag_as_required",
    "mark_flags_as_mutual_exclusive", "mark_flags_as_required", "multi_flags_validator",
    "override_value", "register_multi_flags_validator", "register_validator", "set_default",
    "text_wrap", "validator",
]  # fmt: skip

# Flags belong to the module that calls DEFINE_*, not to this one.
disclaim_key_flags()
absl_flags.FLAGS["log_dir"].allow_override = True
# What arguments were called in TensorFlow 1.0, and are now.
_RENAMED = {"flag_name": "name", "default_value": "default", "docstring": "help"}


_DOC = """Defines a flag of the command line whose value is {what}.

Args:
  flag_name: the name: ``--NAME=VALUE`` gives the value.
  default_value: the value without that; None: no value.
  docstring: what ``--help`` says of it.

Returns:
  absl's holder of the flag.

Raises:
  DuplicateFlagError: there is a flag of that name.

Example:
  >>> import penstock as tf
  >>> flag = tf.flags.DEFINE_{kind}("my_{name}", {value}, "what --help says of it")
  >>> rest = tf.flags.FLAGS(["train.py", "--my_{name}={given}"])  # done by tf.app.run
  >>> tf.flags.FLAGS.my_{name}
  {gives}
"""


def _with_old_names(
    define: Callable[..., Any], name: str, value: Any, given: Any
) -> Callable[..., Any]:
    """``define``, which then takes its arguments by their old names as well.

    Args:
      define: absl's function.
      name, value: of the flag that its docstring shows.
      given: its value on the command line there.
    """

    @decorates(define)
    def defined(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_RENAMED.get(name, name): v for name, v in kwargs.items()})

    kind = define.__name__.removeprefix("DEFINE_")
    what = {"string": "text", "boolean": "true or false"}.get(kind, f"a number ({kind})")
    defined.__doc__ = _DOC.format(
        what=what, kind=kind, name=name, value=repr(value), given=given, gives=repr(given)
    )
    return defined


DEFINE_string = _with_old_names(absl_flags.DEFINE_string, "data_dir", ".", "/data")
DEFINE_boolean = _with_old_names(absl_flags.DEFINE_boolean, "use_gpu", True, False)
DEFINE_bool = DEFINE_boolean
DEFINE_float = _with_old_names(absl_flags.DEFINE_float, "learning_rate", 0.1, 0.5)
DEFINE_integer = _with_old_names(absl_flags.DEFINE_integer, "batch_size", 32, 64)


class _ParsedWhenRead:
    """absl's flags, which parse ``sys.argv`` when a flag is read before anybody has parsed it.

    Example:
      >>> import penstock as tf
      >>> flag = tf.flags.DEFINE_float("rate_of_the_example", 0.1, "the learning rate")
      >>> FLAGS = tf.flags.FLAGS
      >>> rest = FLAGS(["train.py", "--rate_of_the_example=0.5"])  # done by tf.app.run
      >>> FLAGS.rate_of_the_example
      0.5
    """

    def __init__(self, flags: FlagValues) -> None:
        object.__setattr__(self, "_flags", flags)

    def __getattr__(self, name: str) -> Any:
        flags = object.__getattribute__(self, "_flags")
        if name in flags and not flags.is_parsed():
            flags(sys.argv)
        return getattr(flags, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._flags, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._flags, name)

    def __getitem__(self, name: str) -> Flag[Any]:
        return self._flags[name]  # type: ignore[no-any-return]

    def __setitem__(self, name: str, flag: Flag[Any]) -> None:
        self._flags[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self._flags

    def __iter__(self) -> Iterator[str]:
        return iter(self._flags)

    def __len__(self) -> int:
        return len(self._flags)

    def __dir__(self) -> list[str]:
        return dir(self._flags)

    def __str__(self) -> str:
        return str(self._flags)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._flags(*args, **kwargs)


FLAGS = _ParsedWhenRead(absl_flags.FLAGS)
