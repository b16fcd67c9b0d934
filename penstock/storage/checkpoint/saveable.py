"""What a saver saves: variables, and slices of partitioned ones, each under a name.

A ``SaveableObject`` has specs (tensor, name in the checkpoint, slice) and takes back what was
restored.  ``saveables_for`` makes them from what users give a ``Saver``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.handles import is_reference_variable
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.partition import PartitionedVariable
from penstock.library.variables.resource_variable import ResourceVariable
from penstock.library.variables.variable import Variable


class SaveSpec:
    """One tensor of a saveable.

    Args:
      tensor: the tensor, or a function without arguments that makes it.
      slice_spec: which slice of a larger tensor it is; ``""`` when it is whole.
      name: its name in the checkpoint.
      dtype: its type; default that of ``tensor``.
      device: its device; default that of ``tensor``.
    """

    def __init__(
        self, tensor: Any, slice_spec: str, name: str, dtype: Any = None, device: Any = None
    ) -> None:
        self._tensor = tensor
        self.slice_spec, self.name = slice_spec, name
        if callable(tensor) and (dtype is None or device is None):
            raise AssertionError("dtype and device must be given when the tensor is a function")
        self.dtype = dtypes.as_dtype(dtype if dtype is not None else tensor.dtype)
        self.device = device if device is not None else tensor.device

    @property
    def tensor(self) -> Any:
        """The tensor; made now where a function makes it."""
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """Something that is saved and restored; subclass it to save other state than variables.

    Args:
      op: what it is of: a tensor or variable.
      specs: its ``SaveSpec`` list.
    """

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op = op
        self.specs = list(specs)
        self.name = name

    @property
    def optional_restore(self) -> bool:
        """Whether a checkpoint may lack it: False, unless a subclass says otherwise."""
        return False

    @property
    def device(self) -> str:
        """The device of its tensors."""
        return str(self.specs[0].device)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """Adds the op that sets the state from what was read.

        Args:
          restored_tensors: one a spec.
          restored_shapes: shapes to give them first, or None.

        Returns:
          The op.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how it is restored")


class ReferenceVariableSaveable(SaveableObject):
    """A reference variable, or one slice of a partitioned one."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """Adds the ``Assign``."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = make("Reshape", value, restored_shapes[0])
        known = self.op.get_shape().is_fully_defined()
        ref = self.op._ref() if isinstance(self.op, Variable) else self.op
        return make("Assign", ref, value, validate_shape=restored_shapes is None and known)


class ResourceVariableSaveable(SaveableObject):
    """A resource variable, or one slice of a partitioned one."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        self._device, self._shape = var.device, var.get_shape()
        if isinstance(var, Tensor):
            self._handle = var.op.inputs[0]
            tensor: Any = var
        else:
            self._handle = var.handle
            tensor = _reader(var)
        spec = SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=var.device)
        super().__init__(var, [spec], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """Adds the ``AssignVariableOp``."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = make("Reshape", value, restored_shapes[0])
        with scopes.device(self._device):
            value = make("Identity", value)
            if not self._shape.is_compatible_with(value.get_shape()):
                raise ValueError(
                    f"variable {self.name!r} has shape {self._shape}; what is restored has shape"
                    f" {value.get_shape()}"
                )
            return make("AssignVariableOp", self._handle, value)


def _reader(var: ResourceVariable) -> Callable[[], Tensor]:
    def read() -> Tensor:
        with scopes.device(var.device):
            value = var.read_value()
            with scopes.device("/device:CPU:0"):
                made: Tensor = make("Identity", value)
        return made

    return read


def all_saveable_objects(scope: str | None = None) -> list[Any]:
    """What a ``Saver`` saves by default: global variables and the saveable objects."""
    return [
        *collecting.get_collection(GraphKeys.GLOBAL_VARIABLES, scope),
        *collecting.get_collection(GraphKeys.SAVEABLE_OBJECTS, scope),
    ]


def _named(op_list: Iterable[Any]) -> dict[str, Any]:
    """Names of what a list holds; slices of one variable come together under its name."""
    named: dict[str, Any] = {}
    for item in sorted(op_list, key=lambda v: str(v.name)):
        if isinstance(item, SaveableObject):
            _put(named, item.name, item)
        elif isinstance(item, PartitionedVariable):
            _put(named, item.name, item)
        elif isinstance(item, Variable) and item._save_slice_info is not None:
            full = item._save_slice_info.full_name or ""
            together = named.setdefault(full, [])
            if not isinstance(together, list):
                raise ValueError(f"a variable and slices of another are both called {full!r}")
            together.append(item)
        elif hasattr(item, "_component_saveables"):  # a variable with a copy on each device
            _put(named, item._shared_name, item)
        else:
            tensor = _tensor_of(item)
            _put(named, _variable_name(tensor), tensor)
    return named


def _put(named: dict[str, Any], name: str, item: Any) -> None:
    if name in named:
        raise ValueError(f"At least two variables have the same name: {name}")
    named[name] = item


def _tensor_of(item: Any) -> Tensor:
    if isinstance(item, ResourceVariable):
        return item._graph_element
    try:
        tensor: Tensor = convert_to_tensor(item, as_ref=True)
    except (TypeError, ValueError):
        tensor = None  # type: ignore[assignment]
    if tensor is None or not _comes_from_variable(tensor):
        raise TypeError(f"Variable to save is not a Variable: {item}: only variables can be saved")
    return tensor


def _comes_from_variable(tensor: Tensor) -> bool:
    return is_reference_variable(tensor.op) or tensor.op.op_def.role in ("read", "read_rows")


def _variable_name(tensor: Tensor) -> str:
    op = tensor.op
    return op.inputs[0].op.name if op.op_def.role == "read" else op.name


def _slices(name: str, parts: Iterable[Any]) -> Iterator[SaveableObject]:
    full: str | None = None
    for variable in parts:
        if isinstance(variable, SaveableObject):
            yield variable
            continue
        info = getattr(variable, "_save_slice_info", None)
        if not isinstance(variable, Variable) or info is None:
            raise ValueError(f"{name!r}: a list must hold slices of one variable; {variable!r}")
        if full is not None and info.full_name != full:
            raise ValueError(f"{name!r}: slices of {full!r} and of {info.full_name!r}")
        full = info.full_name
        kind = ResourceVariableSaveable
        if is_reference_variable(variable.op):
            kind = ReferenceVariableSaveable  # type: ignore[assignment]
        yield kind(variable, info.spec, name)


def saveables_of(name: str, item: Any) -> Iterator[SaveableObject]:
    """The saveables of a variable, its slices, or what is one already."""
    if not isinstance(name, str):
        raise TypeError(f"names of what is saved must be strings; found {name!r}")
    if isinstance(item, SaveableObject):
        yield item
    elif isinstance(item, list | tuple | PartitionedVariable):
        yield from _slices(name, item)
    elif hasattr(item, "_component_saveables"):
        yield item._component_saveables(name)
    else:
        tensor = _tensor_of(item)
        if is_reference_variable(tensor.op):
            yield ReferenceVariableSaveable(tensor, "", name)
        else:
            yield ResourceVariableSaveable(tensor, "", name)


def saveables_for(var_list: Any) -> list[SaveableObject]:
    """The saveables of what a ``Saver`` was given, in order of their names.

    Args:
      var_list: a list of variables, or a dict from names to variables.

    Raises:
      TypeError: something is no variable.
      ValueError: two variables have one name, or one variable two.
    """
    if isinstance(var_list, str | bytes | Variable | Tensor) or not isinstance(var_list, Iterable):
        raise TypeError(
            f"Variables to save should be passed in a dict or a list; found {var_list!r}"
        )
    named = dict(var_list) if isinstance(var_list, Mapping) else _named(var_list)
    found: list[SaveableObject] = []
    seen: set[Any] = set()
    for name in sorted(named, key=str):
        for saveable in saveables_of(name, named[name]):
            key = saveable.op._ref() if isinstance(saveable.op, Variable) else saveable.op
            if key in seen:
                raise ValueError(f"the same variable would be restored by two names: {name!r}")
            seen.add(key)
            found.append(saveable)
    return found
