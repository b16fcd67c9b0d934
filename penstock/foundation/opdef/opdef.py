"""The definition of an op type; ``define.define_op`` registers one.

Its signature is one line, ``"values: N * T, axis: Tidx -> output: T"``, and an attr is one line,
``"N: int >= 2"``, ``"T: {float, double}"``, ``"padding: {'SAME', 'VALID'}"``,
``"strides: list(int)"``, ``"transpose_a: bool = False"`` or ``"color: tensor = uint8[255, 0]"``.
Both are parsed once, at import (``parsing``), into ``ArgDef`` and ``AttrDef``; nothing else looks
at the text again.

A kernel is a Python function over ATen (or one line of source) whose parameters are named after the
op's inputs and attrs; the code generator writes a call of it with the inputs as local variables and
the attrs as literals::

    def _sum(input, reduction_indices, keep_dims):
        return torch.sum(input, reduction_indices, keepdim=keep_dims)

    define_op("Sum", "input: T, reduction_indices: Tidx -> output: T",
              attrs=[...], kernel=_sum, host=("reduction_indices",), ...)

becomes ``v3 = _sum(v1, [1], False)``.  What a kernel receives:

======================  ==============================================================
parameter named after   value
======================  ==============================================================
an input                a torch tensor (string tensors: a NumPy object array)
a list input            a Python list of those
a ``host`` input        a Python number or (nested) list: ``.tolist()`` of the tensor
a ref/resource input    the resource object itself (for instance a ``Variable``)
an attr                 its Python value; types as ``torch.dtype`` (string: ``object``),
                        shapes as a tuple with None for unknown dims, or None
``state``               what ``state(attrs, name)`` made for this session and node
======================  ==============================================================

One output is returned as itself, several as a tuple in order, a list output as a sequence.

Traits (passes and the code generator ask these, never op names):

* ``stateful``: must not be folded, merged or dropped as if it were a function of its inputs.
* ``commutative``: the first two inputs may be swapped.
* ``aliases``: inputs whose memory an output may share (views, pass-throughs).
* ``keeps``: inputs whose memory an object of the step (a stack, a TensorArray) holds on to; the
  planner lets nobody overwrite it from then on, and copies a variable that is written later.
* ``lends``: the outputs may lie in memory that such an object got: never overwritten either.
* ``host``: inputs whose values the kernel wants on the host, as Python numbers and lists.
* ``on_host``: the kernel computes on the host whatever device its node is on: it goes through
  values one by one in Python, or by libraries that know no GPU, or makes of nothing what a GPU
  then gets (numbers are drawn on the host, so that a seed gives the same ones everywhere).  What
  is ``random`` or ``blocking`` does so anyway.
* ``moves``: the outputs hold elements of the inputs, or memory that nobody has written yet: no
  number is there that was not there before.
* ``number``: the value as a Python number, source in which ``{0}`` and ``{1}`` are the inputs': for
  scalars of whole numbers and truths.  ``wraps``: as a tensor it may wrap around.
* ``later``: attrs that a later TensorFlow gave the op, which nodes from there may have: with any
  value where the line has no default, else with the default alone, which means what the op does.
* ``flops``: its float operations, a formula of ``arithmetic``; ``work``: what a placement reckons
  with where TensorFlow, whose counts ``flops`` are, counts none.
* ``reads`` / ``writes``: ref or resource inputs whose state is read or changed.
* ``inplace``: per input, source that computes output 0 into that input's memory, or a
  function of the node that gives it, or None where it does not apply.
* ``layouts``: per input, the physical order of dims that the kernel likes best; a variable that
  feeds it is kept in that order under its unchanged shape.
* ``state``: ``state(attrs, name)`` makes the op's lasting state: what a ref or resource
  output stands for (shared by container and shared_name), or a stream private to the node.
* ``effect``: running it matters even if nobody consumes it (asserts, prints, writes).
* ``random``: draws from a stream; ``blocking``: may wait for another step.
* ``control``, ``role``: what it does to the flow of control, and what else it is for, where that is
  asked (a constant, say); else None.  ``kinds`` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.opdef.arithmetic import Flops
from penstock.foundation.opdef.kinds import Control, Role


@dataclass(frozen=True, slots=True)
class ArgDef:
    """One input or output of an op type.

    Exactly one of ``dtype`` (a fixed type), ``type_attr`` (the attr that names its type) and
    ``type_list_attr`` (a heterogeneous list) is set; ``number_attr`` makes a homogeneous list.
    """

    name: str
    dtype: dtypes.DType | None = None
    type_attr: str | None = None
    number_attr: str | None = None
    type_list_attr: str | None = None
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        """Whether this argument stands for a list of tensors."""
        return self.number_attr is not None or self.type_list_attr is not None

    def count(self, attrs: Mapping[str, Any]) -> int:
        """How many tensors this argument of a node with these attrs stands for."""
        if self.number_attr is not None:
            return int(attrs[self.number_attr])
        return 1 if self.type_list_attr is None else len(attrs[self.type_list_attr])

    def __str__(self) -> str:
        kind = self.dtype.name if self.dtype else self.type_attr or f"list({self.type_list_attr})"
        kind = f"Ref({kind})" if self.is_ref else kind
        return (
            f"{self.name}: {self.number_attr} * {kind}"
            if self.number_attr
            else (f"{self.name}: {kind}")
        )


class _Required:
    def __repr__(self) -> str:
        return "<required>"


REQUIRED = _Required()


@dataclass(frozen=True, slots=True)
class AttrDef:
    """One attr of an op type: kind, default (or ``REQUIRED``), allowed values, least value."""

    name: str
    kind: str
    default: Any = REQUIRED
    allowed: frozenset[Any] | None = None
    minimum: int | None = None


Kernel = Callable[..., Any] | str
InPlace = str | Callable[[Any], str | None]
FIELD = re.compile(r"\{(\w+)\}")


class OpDef:
    """Everything that Penstock knows about one op type; see the module's docstring."""

    __slots__ = (
        "aliases", "attrs", "blocking", "commutative", "control", "effect", "flops", "fold",
        "gradient", "has_list_input", "has_list_output", "host", "inferred_attrs", "inline",
        "inplace", "inputs", "internal", "keeps", "kernel", "kernel_name", "later", "layouts",
        "lends", "moves", "name", "no_gradient", "number", "on_host", "outputs", "parameters",
        "random", "reads", "role", "shape", "state", "stateful", "template", "work", "wraps",
        "writes", "_call",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        inputs: tuple[ArgDef, ...],
        outputs: tuple[ArgDef, ...],
        attrs: Mapping[str, AttrDef],
    ) -> None:
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = dict(attrs)
        inferred = {a.type_attr for a in inputs} | {a.number_attr for a in inputs}
        inferred |= {a.type_list_attr for a in inputs}
        self.inferred_attrs = frozenset(str(n) for n in inferred if n)
        self.has_list_input = any(arg.is_list for arg in inputs)
        self.has_list_output = any(arg.is_list for arg in outputs)
        self.shape: Callable[..., Any] | None = None
        self.kernel: Callable[..., Any] | None = None
        self.kernel_name = ""
        self.template: str | None = None
        self.parameters: tuple[str, ...] = ()
        self.inline: Callable[..., str | None] | None = None
        self.fold: Callable[..., Any] | None = None
        self.gradient: Callable[..., Any] | None = None
        self.no_gradient: str | None = None
        self.aliases: tuple[str, ...] = ()
        self.keeps: tuple[str, ...] = ()
        self.lends = False
        self.host: frozenset[str] = frozenset()
        self.reads: tuple[str, ...] = ()
        self.writes: tuple[str, ...] = ()
        self.inplace: dict[str, InPlace] = {}
        self.layouts: dict[str, tuple[int, ...]] = {}
        self.state: Callable[..., Any] | None = None
        self.stateful = self.commutative = self.effect = False
        self.random = self.blocking = self.internal = self.on_host = False
        self.moves = self.wraps = False
        self.number: str | None = None
        self.later: dict[str, AttrDef] = {}
        self.flops: Flops | None = None
        self.work: Flops | None = None
        self.control: Control | None = None
        self.role: Role | None = None
        self._call: Callable[..., Any] | None = None

    @property
    def pure(self) -> bool:
        """Whether an output depends on nothing but inputs and attrs."""
        return not (self.stateful or self.writes or self.reads or self.effect)

    @property
    def is_stateful(self) -> bool:
        """What its message says: whether two nodes of equal inputs may differ."""
        return bool(self.stateful or self.state is not None)

    @property
    def passes_through(self) -> bool:
        """Whether the only output is the first input, unchanged."""
        if self.template is None or not self.inputs or self.reads or self.effect:
            return False
        first = self.inputs[0]
        return not first.is_list and self.template == f"{{{first.name}}}"

    @property
    def does_nothing(self) -> bool:
        """Whether it is a place for control edges and no more."""
        return self.template == "None"

    def __repr__(self) -> str:
        sides = (", ".join(map(str, side)) for side in (self.inputs, self.outputs))
        return f"{self.name}({' -> '.join(sides)})"


def call_kernel(op: OpDef, values: Mapping[str, Any]) -> Any:
    """Runs the kernel of ``op`` on named values (inputs and attrs, as the program would pass them).

    Args:
      op: the op definition.
      values: parameter name to value; the table in the module's docstring says of what kind.

    Returns:
      What the kernel returns: a tensor, a tuple or a sequence.
    """
    return compiled(op)(*[values[name] for name in op.parameters])


def compiled(op: OpDef) -> Callable[..., Any]:
    """The kernel of ``op`` as a function, also where the definition gives its source.

    Raises:
      LookupError: it has no kernel.
    """
    if op.kernel is None:
        op.kernel = _compile_template(op)
    return op.kernel


def _compile_template(op: OpDef) -> Callable[..., Any]:
    if op.template is None:
        raise LookupError(f"op {op.name} has no kernel")
    import torch  # a template names torch; the rooms that only make graphs never come here

    body = FIELD.sub(r"\1", op.template)
    scope: dict[str, Any] = {"torch": torch}
    exec(f"def {op.kernel_name}({', '.join(op.parameters)}):\n    return {body}", scope)
    function: Callable[..., Any] = scope[op.kernel_name]
    return function


def torch_dtype_name(dtype: dtypes.DType) -> str:
    """Source text for a dtype in a program: ``torch.float32``, or ``object`` for strings.

    A quantized type is that of its integers: torch's own quantized types carry a scale, while here
    the range of the values is a tensor beside them.
    """
    base = dtypes.stored_as(dtype)
    if base is dtypes.string or base in (dtypes.resource, dtypes.variant):
        return "object"
    return f"torch.{base.name}"
