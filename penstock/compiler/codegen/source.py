"""What a program's text is made of: the text with its maps, and a node's call being chosen."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Literal

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.program_text import identifier, literal

Watch = Literal["", "deadline", "observe", "alone"]
# ``observe(line, outputs)``: what an observed program calls; see ``emit``.
Observe = Callable[[int, tuple[Any, ...]], None]
FetchSource = Callable[[dtypes.DType, str, bool, Any], str]
_LITERAL_LIMIT = 64
# Names that programs give to values, and that linking gives to what they use.
_TAKEN = re.compile(r"[acfsv]\d+|torch|check|fetched|bfloat16_array|observe|step")
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(eq=False)
class Source:
    """The text of a program and what its globals must be linked to."""

    text: str
    # Line number in the text (1-based) to the node it runs.
    line_ops: dict[int, Operation]
    # Line number to (local name, tensor) of that node's inputs, for error reports.
    line_inputs: dict[int, list[tuple[str, Tensor]]]
    constants: dict[str, np.ndarray]
    resources: dict[str, Operation]
    states: dict[str, Operation]
    functions: dict[str, Callable[..., Any]]
    # The step graph that the program runs, after all passes.
    step: StepGraph
    layouts: dict[str, tuple[int, ...]] = field(default_factory=dict)
    # Constants that are in the memory of a GPU: which.
    memories: dict[str, str] = field(default_factory=dict)
    # Functions that nodes call: linked to something that compiles and runs them.
    bodies: dict[str, FunctionGraph] = field(default_factory=dict)
    # The text, compiled when it is first linked.
    code: CodeType | None = None


class Call:
    """One node's call while its source is being chosen; what ``OpDef.inline`` is given.

    ``call.arg[name]`` is source for an input (a list of sources for a list input) or for an attr's
    literal; ``call.needed[i]`` says whether output ``i`` is used.
    """

    __slots__ = (
        "op", "arg", "needed", "tensors", "layouts", "result_layout", "uses", "_functions", "_lie",
    )  # fmt: skip

    def __init__(
        self,
        op: Operation,
        arg: dict[str, Any],
        needed: list[bool],
        functions: dict[str, Callable[..., Any]],
        result_layout: tuple[int, ...] | None = None,
        lie: Callable[[Tensor], tuple[int, ...] | None] = lambda tensor: (),
        uses: Callable[[Tensor], list[Operation]] = lambda tensor: [],
    ) -> None:
        self.op, self.arg, self.needed = op, arg, needed
        # How the variable behind a tensor lies: its order of dims, None for the usual one; () where
        # there is no variable.
        self._lie = lie
        # The nodes of the step that take a tensor.
        self.uses = uses
        self._functions = functions
        # The order of dims in memory of the variable that the result updates, where it is special.
        self.result_layout = result_layout
        self.layouts = dict(op.op_def.layouts)
        self.tensors = op.inputs_by_name()

    def function(self, function: Callable[..., Any], name: str | None = None) -> str:
        """Source that names a function: a global of the program, by the function's own name."""
        name = identifier(name or function.__name__.lstrip("_"))  # `_not` is no `not`
        if _TAKEN.fullmatch(name):
            name += "_"
        while self._functions.setdefault(name, function) is not function:
            name += "_"
        return name

    def prefer_layout(self, name: str, layout: tuple[int, ...]) -> None:
        """Asks that the variable behind input ``name``, if there is one, be kept so in memory."""
        self.layouts[name] = layout

    def lies(self, name: str) -> tuple[int, ...] | None:
        """The order of dims in memory of the variable behind an input; None for the usual one."""
        return self._lie(self.tensors[name]) or None

    def is_free_to_lie(self, name: str) -> bool:
        """Whether there is a variable behind an input, and nobody has asked for a layout of it."""
        return self._lie(self.tensors[name]) is None and name not in self.layouts

    def dims(self, name: str) -> Any:
        """Static dims of an input."""
        return self.tensors[name].sizes

    def dtype(self, name: str) -> dtypes.DType:
        """Base dtype of an input."""
        base: dtypes.DType = self.tensors[name].dtype.base_dtype
        return base

    def attr(self, name: str) -> Any:
        """Plain value of an attr."""
        return self.op.attrs[name]

    def value(self, name: str) -> np.ndarray | None:
        """Value of an input that is a constant of the program, else None."""
        return const_array(self.tensors[name])

    def out_dims(self, index: int = 0) -> Any:
        """Static dims of an output."""
        return self.op.outputs[index].sizes


def fill(template: str, arg: dict[str, Any]) -> str:
    return _FIELD.sub(lambda m: as_source(arg[m.group(1)]), template)


def as_source(value: Any) -> str:
    return f"[{', '.join(value)}]" if isinstance(value, list) else value


def const_array(tensor: Any) -> np.ndarray | None:
    return tensor.op.attrs["value"] if tensor.op.op_def.role == "constant" else None


def host_literal(array: np.ndarray) -> str | None:
    if array.size > _LITERAL_LIMIT or array.dtype.kind not in "biuf":
        return None
    value = array.tolist()
    if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
        return None
    return literal(value)


def copied(text: str, dtype: dtypes.DType) -> str:
    """Source that copies a program's value; strings lie in NumPy's arrays."""
    return f"{text}.copy()" if dtype.base_dtype is dtypes.string else f"{text}.clone()"
