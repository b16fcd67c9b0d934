"""The ranges of everything that a running step has seen so far.

State: by tensor name, and by key for variables, which change while the step runs.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.engine.runtime import values
from penstock.engine.runtime.program import Program
from penstock.foundation.graph.handles import (
    handle_of,
    is_handle,
    resource_key,
    states_behind,
    written_keys,
)
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.tools.debug.ranges import Range, range_of


class Ledger:
    """Ranges of feeds and variables at the start, then of what each line makes.

    Args:
      program: the observed program.
      args: the values fed.
    """

    def __init__(self, program: Program, args: list[Any]) -> None:
        step = program.source.step
        self._feed_names = dict(zip((t.name for t in step.feeds), step.feed_names, strict=True))
        self._tensors: dict[str, Range | None] = {
            tensor.name: range_of(value) for tensor, value in zip(step.feeds, args, strict=True)
        }
        self._holders: dict[tuple[str, str], Any] = {}
        self._variables: dict[tuple[str, str], str] = {}
        self._states: dict[tuple[str, str], Range | None] = {}
        for name, op in program.source.resources.items():
            key = resource_key(op)
            self._holders[key] = program.scope[name]
            self._variables[key] = op.name
            self._states[key] = self._held(key)
        self.bad_at_start = {k for k, r in self._states.items() if r is not None and not r.finite}

    def _held(self, key: tuple[str, str]) -> Range | None:
        return range_of(getattr(self._holders.get(key), "value", None))

    def of(self, tensor: Tensor) -> Range | None:
        """The range of an input, as it was last seen."""
        if tensor.op.op_def.role == "constant":
            return range_of(values.from_array(tensor.op.attrs["value"], copy=True))
        if tensor.name in self._tensors and not is_handle(tensor):
            return self._tensors[tensor.name]
        key = self.variable_key(tensor)
        return None if key is None else self._states.get(key)

    def variable_key(self, tensor: Tensor) -> tuple[str, str] | None:
        """The key of the variable that the tensor is, or is a read of."""
        if is_handle(tensor):
            return resource_key(handle_of(tensor))
        return next(iter(states_behind(tensor)), None)

    def describe(self, tensor: Tensor) -> str:
        """The tensor's name in the user's graph, and what it is."""
        if tensor.name in self._feed_names:
            return f"{self._feed_names[tensor.name]} (fed)"
        if tensor.op.op_def.role == "constant":
            return f"{tensor.name} (a constant)"
        if is_handle(tensor):
            return f"variable {self._variables.get(resource_key(handle_of(tensor)), tensor.name)}"
        return tensor.name

    def is_source(self, tensor: Tensor) -> bool:
        """Whether the tensor's value was not computed in this step."""
        return (
            tensor.name in self._feed_names
            or tensor.op.op_def.role == "constant"
            or is_handle(tensor)
        )

    def enter(self, op: Operation, outputs: tuple[Any, ...]) -> list[tuple[str, Range]]:
        """Notes what a node made.

        Args:
          op: the node.
          outputs: its outputs' values.

        Returns:
          What of it can be looked at: a label and a range each, outputs first, then the variables
          that it wrote and does not hand on.
        """
        seen: list[tuple[str, Range]] = []
        written = written_keys(op)
        for index, (tensor, value) in enumerate(zip(op.outputs, outputs, strict=False)):
            found = range_of(value) if isinstance(value, torch.Tensor) else None
            key = resource_key(handle_of(tensor)) if is_handle(tensor) else None
            label = f"output {index}"
            if key is None:
                self._tensors[tensor.name] = found
            else:
                self._states[key] = found
                written.discard(key)
                label += f" (variable {self._variables.get(key, tensor.name)})"
            if found is not None:
                seen.append((label, found))
        for key in written:
            found = self._states[key] = self._held(key)
            if found is not None:
                seen.append((f"variable {self._variables[key]}, which it updates", found))
        return seen

    def enter_read(self, handle: Operation, value: Any) -> None:
        """Notes the value of a variable that a line has read."""
        self._states[resource_key(handle)] = range_of(value)
