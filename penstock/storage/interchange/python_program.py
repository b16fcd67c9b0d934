"""A model as a Python file that needs torch alone, and its constants as a safetensors file.

The text is what the code generator writes for a step, one line a node with the node's name beside
it; the kernels that it calls stand above it (``sources``).  Names, attrs and constants of the graph
get into the text by ``foundation/opdef/program_text.py`` alone.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import torch

from penstock.compiler.codegen.emit import emit
from penstock.compiler.codegen.plan import make_plan
from penstock.compiler.codegen.source import Source
from penstock.engine.runtime.values import scalar_truth, value_source
from penstock.foundation.base import dtypes
from penstock.foundation.formats.safetensors_file import SafetensorsWriter
from penstock.foundation.graph.operation import Operation
from penstock.foundation.opdef.opdef import OpDef, compiled
from penstock.foundation.opdef.program_text import comment, literal
from penstock.storage.interchange.model import (
    Model,
    Unportable,
    has_text,
    is_resolved,
    refuse,
)
from penstock.storage.interchange.sources import NotAlone, Sources

_TARGET = "python"
_HEAD = '''"""A model as straight-line calls of torch.

Constants are in the safetensors file of the same name, beside this one.

    outputs = run(*inputs)          # tensors in the order of INPUTS; gives those of OUTPUTS
    model = Model().to(device)      # the same as a module

    python FILE.py                  # runs it on zeros and prints the shapes
"""

from __future__ import annotations

'''
_LOAD = '''

def load_constants(path=CONSTANTS):
    """The constants by name."""
    return load_file(path)'''
_TAIL = '''

class Model(torch.nn.Module):
    """The model as a module, its constants as buffers."""

    def __init__(self, path=CONSTANTS):
        super().__init__()
        for name, value in load_constants(path).items():
            self.register_buffer(name, value)

    @torch.inference_mode()
    def forward(self, *inputs):
        """Takes tensors in the order of INPUTS, gives a tuple in the order of OUTPUTS."""
        return model(*inputs, **dict(self.named_buffers()))


_loaded = []


def run(*inputs):
    """Runs the model on tensors in the order of INPUTS."""
    if not _loaded:
        _loaded.append(Model())
    return _loaded[0](*inputs)


if __name__ == "__main__":
    zeros = [torch.zeros([d or 1 for d in dims or ()], dtype=t) for _, t, dims in INPUTS]
    for (name, _, _), value in zip(OUTPUTS, run(*zeros)):
        print(name, list(value.shape), value.dtype)
'''


def write_python(model: Model, path: str) -> list[str]:
    """Writes a model as PATH and, beside it, its constants.

    Args:
      model: the model.
      path: the file; it ends in ``.py``.

    Returns:
      The files written.

    Raises:
      Unportable: a node has no form in torch alone.
      ValueError: the path ends otherwise.
    """
    if not path.endswith(".py"):
        raise ValueError(f"a python export is a .py file; found {path!r}")
    text, constants = python_text(model, os.path.basename(path)[: -len(".py")])
    beside = path[: -len(".py")] + ".safetensors"
    with SafetensorsWriter(beside) as writer:
        for name, array in constants.items():
            writer.add(name, np.ascontiguousarray(array).reshape(np.shape(array)))
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return [path, beside]


def python_text(model: Model, stem: str) -> tuple[str, dict[str, np.ndarray]]:
    """The text of a model's file, and its constants by the names that the text has for them.

    Args:
      model: the model.
      stem: name of the file of constants, without its ending.
    """
    for op in model.step.every_operation():
        _check(op)
    try:
        source = emit(make_plan(model.step), value_source, name="model", watch="alone")
    except LookupError as error:
        raise Unportable(f"the model does not export to python: {error}") from None
    sources = Sources()
    for name in ("model", "Model", "run", "load_constants", "INPUTS", "OUTPUTS", "CONSTANTS"):
        sources.reserve(name)
    lines = [*_kernels(source, sources), _LOAD]
    imports = sorted({"os", "torch", *sources.imports})
    parts = [
        _HEAD + "\n".join(f"import {name}" for name in imports),
        "from safetensors.torch import load_file\n\n",
        sources.text(),
        "\n\n" + _named("INPUTS", model.inputs, model.step.feeds),
        _named("OUTPUTS", model.outputs, model.step.fetches),
        f"CONSTANTS = os.path.join(os.path.dirname(os.path.abspath(__file__)),"
        f" {literal(stem + '.safetensors')})\n",
        "\n".join(lines),
        _with_constants(source),
        _TAIL,
    ]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(parts)), dict(source.constants)


def _check(op: Operation) -> None:
    """Refuses a node for what it is, whatever its kernel."""
    definition = op.op_def
    if definition.role in ("feed", "constant", "conditional", "loop", "dead", "taken"):
        if any(t.dtype.base_dtype is dtypes.string for t in op.outputs):
            raise refuse(op, "torch has no tensors of strings", _TARGET)
        return
    if has_text(op) is not None and not definition.effect:
        raise refuse(op, "torch has no tensors of strings", _TARGET)
    why = _of_kind(definition)
    if why is not None:
        raise refuse(op, why, _TARGET)
    if op.refusal is not None:
        raise refuse(op, str(op.refusal[0]), _TARGET)


def _of_kind(definition: OpDef) -> str | None:
    """Why ops of such a kind cannot leave, whatever their kernels."""
    if definition.role == "variable" or definition.control is not None:
        return None
    if definition.random:
        return "it draws random numbers"
    if definition.state is not None:
        return "it has state that outlives a step"
    if definition.blocking:
        return "it waits for other steps"
    if definition.writes and not any(arg.name == "handle" for arg in definition.inputs):
        return "it changes a variable"
    return None


def why_not(definition: OpDef) -> str | None:
    """Why an op type has no form in torch alone, as far as its definition tells; None: it has."""
    if is_resolved(definition):
        return None
    why = _of_kind(definition)
    if why is not None:
        return why
    try:
        Sources().add(_kernel(definition))
    except NotAlone as error:
        return str(error)
    except LookupError:
        return "it has no kernel of its own"
    return None


def _kernel(definition: OpDef) -> Any:
    if definition.template is not None:
        return torch.add  # a line of torch
    return compiled(definition)


def _kernels(source: Source, sources: Sources) -> list[str]:
    """Lines that give the functions that the program calls the names that it has for them."""
    lines = []
    wanted = dict(source.functions)
    if "scalar_truth(" in source.text:
        wanted["scalar_truth"] = scalar_truth
    for name, function in wanted.items():
        try:
            found = sources.add(function)
        except NotAlone as error:
            raise refuse(_caller(source, name), str(error), _TARGET) from None
        if found != name:
            lines.append(f"{name} = {found}")
    return lines


def _caller(source: Source, name: str) -> Operation:
    """A node whose line calls a function."""
    lines = source.text.splitlines()
    for number, op in sorted(source.line_ops.items()):
        if f"{name}(" in lines[number - 1]:
            return op
    raise LookupError(f"no line calls {name}")


def _with_constants(source: Source) -> str:
    """The program's text, with constants as keyword arguments."""
    first, rest = source.text.split("\n", 1)
    head = first.removesuffix("):")
    names = ", ".join(source.constants)
    both = ", " if names and not head.endswith("(") else ""
    text = f"\n\n{head}{both}{f'*, {names}' if names else ''}):\n"
    nodes = {id(op.attrs["value"]): op.name for op in source.step.every_operation()
             if op.op_def.role == "constant"}  # fmt: skip
    for name, array in source.constants.items():
        shown = f"{array.dtype.name}{list(array.shape)} {nodes.get(id(array), '')}"
        text += f"    # {name}: {comment(shown.rstrip())}\n"
    return text + rest


def _named(name: str, names: tuple[str, ...], tensors: list[Any]) -> str:
    """A table of inputs or outputs: name, type, dims."""
    lines = [f"{name} = ["]
    for each, tensor in zip(names, tensors, strict=True):
        dims = None if tensor.sizes is None else list(tensor.sizes)
        kind = dtypes.stored_as(tensor.dtype.base_dtype)
        if not _has_tensors(kind):
            raise Unportable(f"{each!r} is {tensor.dtype.name}, and torch has no such tensors")
        lines.append(f"    ({literal(each)}, torch.{kind.name}, {literal(dims)}),")
    return "\n".join([*lines, "]"])


def _has_tensors(kind: dtypes.DType) -> bool:
    """Whether torch has tensors of a type, under the name that it has here."""
    return isinstance(getattr(torch, kind.name, None), torch.dtype)
