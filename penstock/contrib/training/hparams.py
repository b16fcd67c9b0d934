"""Hyper-parameters: attributes with types, which text and JSON can change."""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Callable, Mapping
from typing import Any

from penstock.contrib.training.hparam_messages import HParamDef
from penstock.foundation.graph.proto_functions import get_to_proto_function, register_proto_function

_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
    r"((?P<val>[^,\[]*)|\[(?P<vals>[^\]]*)\])($|,\s*)"
)


# ---- text -------------------------------------------------------------------------------------


def parse_values(
    values: str, type_map: Mapping[str, type], ignore_unknown: bool = False
) -> dict[str, Any]:
    """Reads assignments such as ``"rate=0.1,sizes=[3,4],names[1]=x"``.

    Args:
      values: the text.
      type_map: from names to the types of their values (or of the elements of their lists).
      ignore_unknown: whether other names are skipped.

    Returns:
      From names to values; lists; or, where elements are assigned, from places to values.

    Raises:
      ValueError: text of another form, unknown names, values of another type, or a name twice.
    """
    found: dict[str, Any] = {}
    place = 0
    while place < len(values):
        match = _ASSIGNMENT.match(values, place)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[place:]}")
        place = match.end()
        name = match["name"]
        if name in type_map:
            _take(found, match, type_map[name], values)
        elif not ignore_unknown:
            raise ValueError(
                f"Unknown hyperparameter type for {name}; known are {sorted(type_map)}"
            )
    return found


def _reader(kind: type) -> Callable[[str], Any]:
    return _bool_of if kind is bool else kind


def _bool_of(text: str) -> bool:
    known = {"true": True, "True": True, "false": False, "False": False}
    return known[text] if text in known else bool(int(text))


def _take(found: dict[str, Any], match: re.Match[str], kind: type, text: str) -> None:
    name, read = match["name"], _reader(kind)
    given = match["val"] if match["vals"] is None else match["vals"]
    try:
        if match["vals"] is None:
            value: Any = read(given)
        else:
            value = [read(part) for part in re.split("[ ,]", given) if part]
    except ValueError as error:
        raise ValueError(
            f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{given}' in"
            f" {text}"
        ) from error
    if match["index"] is None:
        if name in found:
            raise ValueError(f"Multiple assignments to variable '{name}' in {text}")
        found[name] = value
        return
    if match["vals"] is not None:
        raise ValueError(f"Assignment of a list to a list index: {text}")
    elements = found.setdefault(name, {})
    if not isinstance(elements, dict) or int(match["index"]) in elements:
        raise ValueError(f"Multiple assignments to variable '{name}[{match['index']}]' in {text}")
    elements[int(match["index"])] = value


# ---- types ------------------------------------------------------------------------------------


def _as_type(name: str, kind: type, value: Any) -> Any:
    """``value`` as a hyper-parameter of type ``kind`` takes it: numbers widen, nothing else."""
    if type(value) is kind or kind is type(None):
        return value
    text = str | bytes
    fits = not (issubclass(kind, text) and not isinstance(value, text))
    fits = fits and issubclass(kind, bool) == isinstance(value, bool)
    for family in (numbers.Integral, numbers.Number):
        fits = fits and not (issubclass(kind, family) and not isinstance(value, family))
    if not fits:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value)


class HParams:
    """Hyper-parameters as attributes.

    Args:
      hparam_def: an ``HParamDef`` message to take them from.
      model_structure: anything that belongs to them.
      **kwargs: names and values; a list is of the type of its first element.

    Raises:
      ValueError: a message and values; a name that is an attribute; an empty list.

    Example:
      >>> import penstock as tf
      >>> hparams = tf.contrib.training.HParams(rate=0.1, sizes=[3, 4])
      >>> hparams.parse("rate=0.5,sizes=[5]").values()
      {'rate': 0.5, 'sizes': [5]}
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any) -> None:
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        if hparam_def:
            if kwargs:
                raise ValueError("hparam_def and initialization values are mutually exclusive")
            kwargs = dict(_values_of(hparam_def))
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a hyper-parameter, of the type of ``value``.

        Raises:
          ValueError: the name is taken, or ``value`` is an empty list.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, list | tuple):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets a hyper-parameter.

        Raises:
          KeyError: there is none of this name.
          ValueError: a value of another type, a list for a single value or the reverse.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list) != is_list:
            must = "Must pass a list for multi" if is_list else "Must not pass a list for single"
            raise ValueError(f"{must}-valued parameter: {name}; found {value!r}")
        if is_list:
            setattr(self, name, [_as_type(name, kind, item) for item in value])
        else:
            setattr(self, name, _as_type(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a hyper-parameter, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Sets hyper-parameters from text; see ``parse_values``.

        Returns:
          The same object.
        """
        types = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Sets hyper-parameters from a dictionary.

        Returns:
          The same object.
        """
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: Mapping[str, Any]) -> HParams:
        """Older name of ``override_from_dict``."""
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure: Any) -> None:
        """Sets what belongs to them."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """What belongs to them."""
        return self._model_structure

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """The values as JSON; arguments as ``json.dumps``."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> HParams:
        """Sets hyper-parameters from JSON.

        Returns:
          The same object.
        """
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """From names to values."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """A value, or ``default`` where there is none.

        Raises:
          ValueError: ``default`` is of another type than the value.
        """
        if key not in self._hparam_types:
            return default
        if default is not None:
            self._check_default(key, default)
        return getattr(self, key)

    def _check_default(self, key: str, default: Any) -> None:
        kind, is_list = self._hparam_types[key]
        said = f"list<{kind}>" if is_list else str(kind)
        text = f"Hparam '{key}' of type '{said}' is incompatible with default={default}"
        if is_list != isinstance(default, list):
            raise ValueError(text)
        try:
            for value in default if is_list else [default]:
                _as_type(key, kind, value)
        except ValueError as error:
            raise ValueError(f"{text}. {error}") from error

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"

    @staticmethod
    def from_proto(hparam_def: Any, import_scope: str | None = None) -> HParams:
        """The hyper-parameters of an ``HParamDef`` message."""
        return HParams(hparam_def=hparam_def)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """An ``HParamDef`` message.

        Raises:
          ValueError: a value of a type that it cannot hold.
        """
        made = HParamDef()
        for name, (kind, is_list) in self._hparam_types.items():
            field = f"{_field_of(kind)}_{'list' if is_list else 'value'}"
            given = getattr(self, name)
            items = given if is_list else [given]
            items = [v.encode() if isinstance(v, str) else v for v in items]
            if is_list:
                getattr(made.hparam[name], field).value.extend(items)
            else:
                setattr(made.hparam[name], field, items[0])
        return made


def _field_of(kind: type) -> str:
    families = {bool: "bool", int: "int64", str: "bytes", bytes: "bytes", float: "float"}
    for family, field in families.items():
        if issubclass(kind, family):
            return field
    raise ValueError(f"Unsupported parameter type: {kind}; allowed: bool, int, str, float")


def _values_of(hparam_def: Any) -> Any:
    for name, message in hparam_def.hparam.items():
        field = message.WhichOneof("kind")
        held = getattr(message, field)
        items = list(held.value) if field.endswith("_list") else [held]
        items = [v.decode() if isinstance(v, bytes) else v for v in items]
        yield name, items if field.endswith("_list") else items[0]


if get_to_proto_function("hparams") is None:  # a doctest imports this file once more
    register_proto_function(
        "hparams", proto_type=HParamDef, to_proto=HParams.to_proto, from_proto=HParams.from_proto
    )
