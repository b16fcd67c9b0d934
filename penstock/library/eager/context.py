"""The eager context: a graph by its methods, in which a call runs and nothing is kept.

Builders add nodes by ``make``; where the default graph ``executes``, ``make`` hands the call on to
``EagerContext.execute``, which finds the ``Call`` for the op type, the attrs and the dtypes, and
runs its kernel.  Arguments that are tensors already take the short way; others are converted by
what converts a node's.

State: the calls that were made before, constants of Python's numbers, resources with a shared name.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from penstock.engine.resources.manager import ResourceManager
from penstock.engine.session import placement_log
from penstock.engine.session.build import function_compiler
from penstock.engine.session.options import Options, apply_config
from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import constant, make, tuple_of
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.handles import resource_key
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.solve import Solver, complete_attrs, output_types
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.registry import OPS
from penstock.library.eager.calls import Call
from penstock.library.eager.constants import Constants
from penstock.library.eager.recorders import recorders, tell
from penstock.library.eager.replay import Replays
from penstock.library.eager.shortcuts import HANDLES, PLAIN, Shortcuts, kinds_of
from penstock.library.eager.tensor import EagerOperation, EagerTensor, eager_tensor

_MOST_CALLS = 1 << 14
_MOST_NUMBERS = 1 << 12
_MAXINT32 = 2**31 - 1
# Longer lists of integers are values, not axes or shapes.
_MOST_INTEGERS = 8


class _Scope:
    """A name scope: names are neither kept nor made unique."""

    __slots__ = ("scopes", "name", "saved")

    def __init__(self, scopes: Any, name: str | None) -> None:
        self.scopes, self.name, self.saved = scopes, name, ""

    def __enter__(self) -> str:
        scopes, name = self.scopes, self.name
        self.saved = scopes.name
        if not name:
            scopes.name = ""
        elif name[-1] == "/":
            scopes.name = name[:-1]
        else:
            scopes.name = f"{self.saved}/{name}" if self.saved else name
        return f"{scopes.name}/" if scopes.name else ""

    def __exit__(self, *exc: Any) -> None:
        self.scopes.name = self.saved


class EagerContext(Graph):
    """Where operations run as they are called.

    Args:
      config: a ``ConfigProto``; what of it is for the process is set.
    """

    executes = True
    tensor_class = EagerTensor

    def __init__(self, config: Any = None) -> None:
        super().__init__()
        self.resources = ResourceManager()
        self.options: Options = apply_config(config)
        placement_log.enabled_with(config)
        # Whether something has run, after which it is settled whether operations are logged.
        self._begun = self._logs = False
        self.compile = function_compiler(self.resources, self.options)
        self._calls: dict[Any, Call] = {}
        self.entries: dict[str, dict[int, Any]] = {}
        # By op, kinds of inputs, numbers and attrs: the call, and what the numbers have become.
        self._mixed: dict[Any, tuple[Call, tuple[tuple[int, EagerTensor], ...]]] = {}
        self._constants = Constants()
        self._shortcuts = Shortcuts()
        self.replays = Replays(self)
        self._numbers: dict[Any, EagerTensor] = {}
        self._random = random.Random()

    def emptied(self) -> EagerContext:
        """Itself without collections: what has run keeps its values."""
        self._collections.clear()
        return self

    def begin(self) -> None:
        """Settles, when something runs for the first time, whether devices are logged."""
        if self._begun:
            return
        self._begun = True
        config = placement_log.begin()
        self._logs = config.log_device_placement
        if self._logs != self.options.log_device_placement or placement_log.asked.settings:
            self.options = apply_config(config)
            self.compile = function_compiler(self.resources, self.options)

    def log(self, name: str) -> None:
        """Logs an operation or function that runs in a new way, if that was asked for."""
        if self._logs:
            placement_log.log_operation(name)

    # ---- running an operation -------------------------------------------------------------------

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What a public function gives, by its shortcut where it has one."""
        if args and not kwargs:  # what is called most, without the lists
            x = args[0]
            if type(x) is EagerTensor and (number := id(x.dtype)) not in HANDLES:
                entry = None
                if len(args) == 1:
                    entry = self._shortcuts.get((function, number, x.value.shape))
                elif len(args) == 2 and (kind := type(y := args[1])) in PLAIN:
                    entry = self._shortcuts.get((function, number, x.value.shape, kind, y))
                if entry is not None:
                    return entry(x)
        kinds: list[Any] = [function]
        tensors: list[EagerTensor] = []
        are_known = kinds_of(args, kinds, tensors)
        if kwargs and are_known:
            are_known = all(kinds_of(item, kinds, tensors) for item in kwargs.items())
        if not are_known or not tensors:
            return function(*args, **kwargs)
        key = tuple(kinds)
        entry = self._shortcuts.get(key)
        if entry is None:
            return self._shortcuts.watched(key, tensors, function, args, kwargs, self._call)
        return entry(*tensors)

    def execute(
        self, op_type: str, inputs: Sequence[Any], name: str | None, attrs: dict[str, Any]
    ) -> Any:
        """Runs an operation.

        Args:
          op_type: a registered op type.
          inputs, name, attrs: as ``make`` takes them.

        Returns:
          What ``make`` returns, of tensors that have values; None where there are no outputs.

        Raises:
          tf.errors.OpError: it fails.
          TypeError, ValueError: arguments that do not become tensors, as of ``make``.
        """
        if len(inputs) == 1:
            (item,) = inputs
            if type(item) is not EagerTensor:
                return self._execute_mixed(op_type, inputs, name, attrs)
            key: Any = (op_type, id(item.dtype), *attrs.items())
        elif inputs:
            if _is_variable(inputs[0]):  # its updates begin with it
                wanted = OPS[op_type].inputs
                if len(inputs) == len(wanted):
                    inputs = [_of_variable(x, arg) for x, arg in zip(inputs, wanted, strict=True)]
            kinds: list[Any] = [op_type]
            for item in inputs:
                if type(item) is not EagerTensor:
                    return self._execute_mixed(op_type, inputs, name, attrs)
                kinds.append(id(item.dtype))
            key = (*kinds, *attrs.items())
        elif OPS[op_type].role == "constant":
            self.begin()
            return self._constants.of_array(attrs["value"], attrs["dtype"])
        else:
            key = (op_type, *attrs.items())
        try:
            call = self._calls.get(key)
        except TypeError:  # an attr is a list
            call = self._calls.get(_hashable(key))
        if call is None:
            return self._convert_and_execute(op_type, inputs, name, attrs)
        if call.entry is None:
            return self._outputs(call, inputs, call.run(inputs, [t.value for t in inputs]))
        return call.entry(*inputs)

    def _executed(self, call: Call, tensors: Sequence[EagerTensor]) -> Any:
        if call.entry is None:
            return self._outputs(call, tensors, call.run(tensors, [t.value for t in tensors]))
        return call.entry(*tensors)

    def _execute_mixed(
        self, op_type: str, inputs: Sequence[Any], name: str | None, attrs: dict[str, Any]
    ) -> Any:
        """As ``execute``, where lists of tensors, variables or Python's numbers are among them."""
        tensors: list[Any] = []
        key = _mixed_key(op_type, inputs, attrs, tensors)
        if key is None and any(map(_is_variable, inputs)):
            wanted = OPS[op_type].inputs
            given = [_of_variable(x, arg) for x, arg in zip(inputs, wanted, strict=False)]
            if len(given) == len(inputs):
                return self.execute(op_type, given, name, attrs)
        try:
            known = None if key is None else self._mixed.get(key)
        except TypeError:  # an attr is a list
            key = _hashable(key)
            known = None if key is None else self._mixed.get(key)
        if known is None:
            return self._convert_and_execute(op_type, inputs, name, attrs, key)
        call, constants = known
        for place, tensor in constants:
            tensors[place] = tensor
        return self._executed(call, tensors)

    def _convert_and_execute(
        self,
        op_type: str,
        inputs: Sequence[Any],
        name: str | None,
        attrs: dict[str, Any],
        mixed: Any = None,
    ) -> Any:
        graph = _graph_that_takes(inputs)
        if graph is not None:
            # Names here need not differ, as they must in a graph.
            name = (name or op_type).rstrip("/").rpartition("/")[2]
            with default_graph_scope(graph):
                given = [nest.map_structure(_as_constant, item) for item in inputs]
                return make(op_type, *given, name=name, **attrs)
        self.begin()
        op_def = OPS[op_type]
        if op_def.role == "placeholder":
            raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
        if len(inputs) != len(op_def.inputs):
            raise TypeError(
                f"{op_type} takes {len(op_def.inputs)} input(s); {len(inputs)} were given"
            )
        simple = not op_def.has_list_input
        if simple and not all(type(x) is EagerTensor for x in inputs):
            inputs = self._numbers_converted(op_def, inputs)
            if mixed is None and all(type(x) is EagerTensor for x in inputs):
                return self.execute(op_type, inputs, name, attrs)
        _check_dtypes(op_def, inputs)
        full = self.node_name(name, op_type)
        solver = Solver(op_def, self, full, attrs)
        flat, solved = solver.solve(inputs)
        tensors = [self._inside(t, op_def) for t in flat]
        complete = complete_attrs(op_def, full, solved, attrs)
        types = output_types(op_def, complete)
        if op_def.state is not None and op_def.kernel is None and op_def.template is None:
            return self._state(op_def, full, complete)
        call = self._call(op_def, tensors, complete, types)
        if simple:
            self._remember(call, op_type, tensors, attrs)
        if mixed is not None:
            self._remember_mixed(mixed, call, tensors)
        return self._executed(call, tensors)

    def _call(
        self, op_def: OpDef, tensors: Sequence[Any], attrs: dict[str, Any], types: Sequence[Any]
    ) -> Call:
        key: Any = (op_def.name, *map(_frozen, attrs.items()))
        try:
            call = self._calls.get(key)
        except TypeError:
            self.log(op_def.name)
            return Call(op_def, attrs, types, len(tensors), self.compile)
        if call is None:
            self.log(op_def.name)
            if len(self._calls) > _MOST_CALLS:
                self._forget_calls()
            call = self._calls[key] = Call(op_def, attrs, types, len(tensors), self.compile)
        return call

    def _remember(
        self, call: Call, op_type: str, tensors: Sequence[Any], attrs: dict[str, Any]
    ) -> None:
        key = _hashable((op_type, *(id(t.dtype) for t in tensors), *attrs.items()))
        if key is None:
            return
        self._calls[key] = call
        if call.entry is not None and not attrs and len(set(key[1:])) == 1:
            self.entries.setdefault(op_type, {})[key[1]] = call.entry

    def _remember_mixed(self, key: Any, call: Call, tensors: Sequence[Any]) -> None:
        """Keeps a call with the constants that Python's numbers among its inputs have become."""
        if len(self._mixed) > _MOST_CALLS:
            self._mixed.clear()
        places = _number_places(key[1])
        self._mixed[key] = call, tuple((i, tensors[i]) for i in places)

    def _numbers_converted(self, op_def: OpDef, inputs: Sequence[Any]) -> list[Any]:
        """The inputs, Python's numbers beside a tensor of the same type attr as constants."""
        known = {
            arg.type_attr: x.dtype
            for arg, x in reversed(list(zip(op_def.inputs, inputs, strict=True)))
            if type(x) is EagerTensor
        }
        result = list(inputs)
        for index, (arg, x) in enumerate(zip(op_def.inputs, inputs, strict=True)):
            if type(x) in (float, int, bool):
                wanted = arg.dtype or known.get(arg.type_attr)
                if wanted is not None:
                    result[index] = self.number(x, wanted)
        return result

    def number(self, x: Any, dtype: dtypes.DType) -> EagerTensor:
        """A constant of a Python number.

        Raises:
          TypeError, ValueError: it is none of that type.
        """
        key = (type(x), x, dtype)
        found = self._numbers.get(key)
        if not x and math.copysign(1.0, x) < 0:
            found = None  # the key of 0.0 is equal
        if found is None:
            made: Any = convert_to_tensor(x, dtype)
            if len(self._numbers) > _MOST_NUMBERS:
                self._numbers.clear()
            found = made
            if x:
                self._numbers[key] = made
        return found

    def number_apart(
        self, value: Any, dtype: Any, array_of: Callable[[Any, Any], np.ndarray]
    ) -> EagerTensor:
        """A new tensor of a Python number."""
        if not self._begun:
            self.begin()
        return self._constants.of_number(value, dtype, array_of)

    def _inside(self, tensor: Any, op_def: OpDef) -> EagerTensor:
        if not isinstance(tensor, EagerTensor):
            raise TypeError(
                f'An op outside of the function building code is being passed a "Graph" tensor:'
                f" {op_def.name} is run eagerly; {tensor!r} has no value"
            )
        return tensor

    def _state(self, op_def: OpDef, name: str, attrs: dict[str, Any]) -> EagerTensor:
        """A handle of a resource: of its own, or the one of that name."""
        factory = op_def.state
        assert factory is not None
        given = {
            k: self.compile(v) if isinstance(v, FunctionGraph) else v for k, v in attrs.items()
        }

        def make() -> Any:
            return factory(given, name)

        self.log(op_def.name)
        asked = EagerOperation(self, op_def, name, (), [], attrs)
        if attrs.get("shared_name"):
            held = self.resources.lookup_or_create(*resource_key(asked), make)
        else:
            held = make()
        handle = eager_tensor(held, op_def.outputs[0].dtype or dtypes.resource)
        asked.outputs.append(handle)
        handle.handle_op = asked
        handle.position = 0
        return handle

    def _outputs(self, call: Call, inputs: Sequence[Any], result: Any) -> Any:
        if call.single:
            made = eager_tensor(result, call.types[0])
            if recorders.active:
                tell(call, inputs, (made,))
            return made
        op_def = call.op_def
        flat = call.flat(result)
        tensors = [eager_tensor(v, t) for v, t in zip(flat, call.types, strict=True)]
        if recorders.active:
            tell(call, inputs, tensors)
        if not tensors and not op_def.has_list_output:
            return None
        if not op_def.has_list_output:
            return tuple_of(op_def)._make(tensors)
        if not tensors and op_def.stateful:
            return None
        grouped = list(EagerOperation(self, op_def, "", inputs, tensors, call.attrs)
                       .outputs_by_name().values())  # fmt: skip
        return grouped[0] if len(grouped) == 1 else tuple_of(op_def)._make(grouped)

    def handle_in_function(self, handle: Any) -> Any:
        """The handle of a resource, made anew in the function being built, by a name it gets."""
        made = handle.handle_op
        attrs = {k: v for k, v in made.attrs.items() if k in made.op_def.attrs}
        attrs["shared_name"] = attrs.get("shared_name") or f"eager_{id(handle.value)}"
        inside = make(made.op_def.name, name=made.name.replace(":", "_"), **attrs)
        self.resources.lookup_or_create(*resource_key(inside.op), lambda: handle.value)
        return inside

    # ---- what differs from a graph --------------------------------------------------------------

    def name_scope(self, name: str | bytes | None) -> Any:
        """Prefixes the names of variables; no name is made unique."""
        return _Scope(self.scopes, name.decode() if isinstance(name, bytes) else name)

    def node_name(self, name: str | bytes | None, op_type: str) -> str:
        """The name in the scope of now; several may have the same."""
        name = name.decode() if isinstance(name, bytes) else name or op_type
        if name[-1] == "/":
            return name[:-1]
        prefix = self.scopes.name
        return f"{prefix}/{name}" if prefix else name

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name in the scope of now."""
        return self.node_name(name, "")

    def control_dependencies(self, control_inputs: Any) -> Any:
        """Nothing: what was called before has run."""
        return nullcontext()

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """Nothing: tensors are where they are."""
        return nullcontext()

    def device(self, device_name_or_function: Any) -> Any:
        """Nothing: what is called eagerly runs on the host."""
        return nullcontext()

    def _attr_scope(self, attr_map: dict[str, Any]) -> Any:
        return nullcontext()

    def add_operation(self, *args: Any, **kwargs: Any) -> Operation:
        """Raises RuntimeError: it keeps no nodes."""
        raise RuntimeError("no nodes are made when eager execution is enabled")

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Keeps a value; tensors and variables are not kept, whose life is their users' matter.

        But the global step is found by its collection, and is one.
        """
        plain = not isinstance(value, EagerTensor) and not hasattr(value, "handle")
        if plain or name == GraphKeys.GLOBAL_STEP:
            super().add_to_collection(name, value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """As ``add_to_collection``, of several."""
        for name in (names,) if isinstance(names, str) else set(names):
            self.add_to_collection(name, value)

    def operation_seed(self) -> int:
        """The seed of the next random operation, where the context has one."""
        return self._random.randint(0, _MAXINT32)

    @property
    def seed(self) -> int | None:
        """The seed of the context."""
        return self._seed

    @seed.setter
    def seed(self, value: int | None) -> None:
        self._seed = value
        self._random = random.Random(value)
        self._forget_calls()  # random streams begin anew

    def _forget_calls(self) -> None:
        self._calls.clear()
        self.entries.clear()
        self._mixed.clear()
        self._shortcuts.clear()
        self.replays.clear()


def _hashable(key: tuple[Any, ...]) -> Any:
    """A call's key, lists among its attrs as tuples; None of attrs that cannot be in one."""
    made = tuple([_of_tuple(item) if type(item) is tuple else item for item in key])
    try:
        hash(made)
    except TypeError:
        return None
    return made


def _of_tuple(item: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([tuple(one) if type(one) is list else one for one in item])


def _is_variable(item: Any) -> bool:
    return type(item) is not EagerTensor and hasattr(type(item), "_dense_var_to_tensor")


def _of_variable(item: Any, arg: Any) -> Any:
    """What an operation takes of a variable: its handle, or its value."""
    if not _is_variable(item):
        return item
    return item.handle if arg.dtype is dtypes.resource or arg.is_ref else convert_to_tensor(item)


def _graph_that_takes(inputs: Sequence[Any]) -> Any:
    """The graph of an input without a value that calls may add to, or None."""
    for item in inputs:
        for one in item if type(item) in (list, tuple) else (item,):
            if isinstance(one, Tensor) and not one.has_value and _takes_calls(one.graph):
                return one.graph
    return None


def _as_constant(item: Any) -> Any:
    """A value as a node of the default graph, where shapes can be known from it."""
    plain = type(item) is EagerTensor and id(item.dtype) not in HANDLES
    return constant(item.numpy(), item.dtype) if plain else item


def _takes_calls(graph: Any) -> bool:
    return isinstance(graph, FunctionGraph) and graph.takes_calls


def _mixed_key(
    op_type: str, inputs: Sequence[Any], attrs: dict[str, Any], tensors: list[Any]
) -> Any:
    """What tells calls apart that run in the same way; None where an input needs more thought.

    ``tensors`` gets the flat inputs; None stands for what a number becomes.
    """
    kinds: list[Any] = []
    for item in inputs:
        kind = type(item)
        if kind is EagerTensor:
            kinds.append(id(item.dtype))
            tensors.append(item)
        elif kind is int or kind is bool or (kind is float and item and item == item):
            kinds.append((kind, item))
            tensors.append(None)
        elif kind is list or kind is tuple:
            wanted = OPS[op_type].inputs
            if len(kinds) >= len(wanted):
                return None
            of_tensors = wanted[len(kinds)].is_list
            found = _list_kind(item, of_tensors)
            if found is None:
                return None
            kinds.append(found)
            if of_tensors:
                tensors.extend(item)
            else:
                tensors.append(None)
        elif kind is np.ndarray and item.size <= _MOST_INTEGERS and item.dtype.kind in "iu":
            kinds.append((item.dtype.char, item.shape, item.tobytes()))
            tensors.append(None)
        else:
            return None
    return op_type, tuple(kinds), *attrs.items()


def _list_kind(items: Sequence[Any], of_tensors: bool) -> Any:
    """What tells lists apart: the dtypes of tensors, or a few integers; None for others."""
    if not items:
        return None
    if of_tensors:
        for one in items:
            if type(one) is not EagerTensor:
                return None
        return (*[id(one.dtype) for one in items], "list")
    if len(items) > _MOST_INTEGERS:
        return None
    for one in items:
        if type(one) is not int:
            return None
    return (list, *items)


def _number_places(kinds: Sequence[Any]) -> list[int]:
    """The flat places of the inputs that are numbers; see ``_mixed_key``."""
    places, flat = [], 0
    for kind in kinds:
        if type(kind) is tuple and kind[-1] == "list":
            flat += len(kind) - 1
            continue
        if type(kind) is tuple:
            places.append(flat)
        flat += 1
    return places


def _frozen(item: tuple[str, Any]) -> Any:
    name, value = item
    return (name, type(value), tuple(value) if isinstance(value, list) else value)


def _check_dtypes(op_def: OpDef, inputs: Sequence[Any]) -> None:
    """Refuses tensors of another dtype than the op type, or a tensor before, says.

    Raises:
      tf.errors.InvalidArgumentError: in TensorFlow's words for it.
    """
    known: dict[str, dtypes.DType] = {}
    for index, (arg, item) in enumerate(zip(op_def.inputs, inputs, strict=True)):
        if type(item) is not EagerTensor or arg.is_list:
            continue
        wanted = arg.dtype or known.setdefault(arg.type_attr or "", item.dtype)
        if wanted is not item.dtype:
            names = [dtypes.message_name(t.name) for t in (wanted, item.dtype)]
            raise errors.InvalidArgumentError(
                None,
                None,
                f"cannot compute {op_def.name} as input #{index}(zero-based) was expected to be a"
                f" {names[0]} tensor but is a {names[1]} tensor [Op:{op_def.name}]",
            )
