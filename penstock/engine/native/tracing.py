"""What of a program's lines is known to be compiled safely: found by running them on fake tensors.

Each line is run once on tensors that have shapes and no numbers.  A line stays as it is if its
kernel asks for a number, raises, gives a variable other memory, or calls an ATen operator that is
not among those that cannot fail once shapes are right, or go by an index (see ``indices``).  So a
native call never has to report an index out of range, and needs no check inside a parallel loop,
where C++ could not raise.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

# Beside those that torch calls pointwise.  The name of an operator, without its overload.
_TOTAL = frozenset("""
    alias as_strided clone copy_ detach diagonal expand narrow permute select slice split
    split_with_sizes squeeze t transpose unbind unsqueeze view _reshape_alias _unsafe_view reshape
    cat stack flip roll repeat constant_pad_nd empty empty_like full full_like ones ones_like
    new_empty new_full new_ones new_zeros scalar_tensor zeros zeros_like fill_ zero_ arange
    all amax amin any argmax argmin mean prod std sum var _log_softmax _softmax logsumexp cumsum
    _log_softmax_backward_data _softmax_backward_data
    addmm addmm_ addmv addr baddbmm bmm dot linalg_vecdot mm mv vdot _linear_pointwise
    sigmoid_backward tanh_backward threshold_backward leaky_relu_backward elu_backward
    gelu_backward log_sigmoid_forward log_sigmoid_backward softplus_backward
    _to_copy to lift_fresh_copy where isfinite isnan isinf addcmul addcmul_ addcdiv addcdiv_
""".split())  # fmt: skip
# Those that go by an index, which ``indices`` looks after: it, and what it must be less than.
INDEXING: dict[str, Callable[[Sequence[Any]], tuple[Any, int]]] = {
    "embedding": lambda args: (args[1], args[0].shape[0]),
    "_embedding_bag_forward_only": lambda args: (args[1], args[0].shape[0]),
    "index_select": lambda args: (args[2], args[0].shape[args[1]]),
    "gather": lambda args: (args[2], args[0].shape[args[1]]),
    "scatter": lambda args: (args[2], args[0].shape[args[1]]),
    "scatter_add": lambda args: (args[2], args[0].shape[args[1]]),
    "scatter_add_": lambda args: (args[2], args[0].shape[args[1]]),
    "scatter_": lambda args: (args[2], args[0].shape[args[1]]),
}
# torch's compiler computes them from a rounded quotient, and 0 % inf as 0 - floor(0 / inf) * inf:
# another number where the quotient is near a whole one, and none for infinite divisors.
_INEXACT = frozenset(["remainder", "remainder_", "fmod", "fmod_"])
# Those of them that fail, or mean something else, on whole numbers.
_NOT_WHOLE = ("div", "remainder", "fmod", "floor_divide", "pow", "bitwise", "lshift", "rshift")


class Refused(Exception):
    """A line that cannot be part of a native call."""


class Held:
    """Stands for a variable while its lines are traced: no lock, and memory that stays."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self.dims = tuple(value.shape)
        self.layout = None
        self.initialized = True
        self.name = "variable"

    @property
    def value(self) -> Any:
        """The tensor."""
        return self._value

    def assign(self, value: Any, validate_shape: bool = True, keeps_shape: bool = False) -> None:
        """Copies a value of the same shape and dtype.

        Raises:
          Refused: it is of another, so that the variable would get other memory.
        """
        held = self._value
        if not isinstance(value, torch.Tensor) or value.shape != held.shape:
            raise Refused("assigns another shape")
        if value.dtype != held.dtype:
            raise Refused("assigns another dtype")
        # Part of its own memory is read before it is written.
        apart = torch._C._is_alias_of(value, held)  # type: ignore[attr-defined]
        held.copy_(value.clone() if apart else value)


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Refuses the operators that are not known to be total."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        space, _, name = func.name().partition(".")[0].partition("::")
        if space == "prim":  # asks for a shape or a device
            return func(*args, **(kwargs or {}))
        if not (name in _TOTAL or name in INDEXING or torch.Tag.pointwise in func.tags):
            raise Refused(f"calls {func}")
        if name in _INEXACT or (kwargs or {}).get("rounding_mode") == "floor":
            raise Refused(f"{func} is exact in its line alone")
        result = func(*args, **(kwargs or {}))
        for tensor in (result, *args):
            if isinstance(tensor, torch.Tensor):
                if tensor.dtype.is_complex or tensor.device.type != "cpu":
                    raise Refused(f"{func} of {tensor.dtype} on {tensor.device}")
                if name.startswith(_NOT_WHOLE) and not tensor.dtype.is_floating_point:
                    raise Refused(f"{func} of whole numbers")
        return result


class _Numbers(ast.NodeTransformer):
    """Takes ``.tolist()`` and ``.item()`` from what some functions are given."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self._functions = functions

    def visit_Call(self, node: ast.Call) -> ast.Call:
        called = self._functions.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if hasattr(called, "traced"):
            node.args = [_on_device(arg) for arg in node.args]
        return node


def _on_device(arg: ast.expr) -> ast.expr:
    if isinstance(arg, ast.Call) and isinstance(arg.func, ast.Attribute) and not arg.args:
        if arg.func.attr in ("tolist", "item"):
            return arg.func.value
    return arg


def with_tensors(lines: str, functions: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Lines whose kernels are given tensors where they are given numbers, and those kernels.

    A kernel that takes numbers on the host may have a form that is traced in its place, as its
    attribute ``traced``: of operators on tensors, also of one number.

    Args:
      lines: of a program.
      functions: the kernels by their names in the text.
    """
    change = _Numbers(functions)
    trees = [change.visit(ast.parse(line)) for line in lines.split("\n")]
    text = "\n".join(ast.unparse(tree).replace("\n", "; ") for tree in trees)
    return text, {name: getattr(f, "traced", f) for name, f in functions.items()}


def example(about: Sequence[Any], fake: Any = None) -> Any:
    """A tensor as one that was seen: of its shape, strides and dtype.

    Args:
      about: shape, strides and the dtype's name.
      fake: a mode under which it is made; None: one that has memory.
    """
    shape, strides, dtype = about
    kind = getattr(torch, dtype)
    if fake is None:
        return torch.empty_strided(shape, strides, dtype=kind)
    with fake:
        return torch.empty_strided(shape, strides, dtype=kind)


def refused(
    lines: Sequence[tuple[int, str, Sequence[str]]],
    values: Mapping[str, Sequence[Any]],
    resources: Sequence[str],
    functions: Mapping[str, Any],
) -> dict[int, str]:
    """The lines that cannot be compiled, by number, and why.

    Args:
      lines: number, text and the names set of those that may be compiled as far as traits say.
      values: what is known of every name of a tensor or variable: shape, strides, dtype.
      resources: which of them are variables.
      functions: the kernels by their names in the text.
    """
    fake = FakeTensorMode()
    traced = with_tensors("", functions)[1]
    scope: dict[str, Any] = {**traced, "torch": torch}
    for name, about in values.items():
        made = example(about, fake)
        scope[name] = Held(made) if name in resources else made
    found = {}
    for number, text, names in lines:
        try:
            with torch.no_grad(), fake, _Watch():  # type: ignore[no-untyped-call]
                exec(with_tensors(text, functions)[0], scope)
        except Exception as why:
            found[number] = f"{type(why).__name__}: {why}".splitlines()[0][:200]
        for name in names:
            if name not in values and name != "_":
                found.setdefault(number, "gives no tensor, or none was seen")
            if name in values and not _is_like(scope.get(name), values[name]):
                found.setdefault(number, "gives something else than it did in a real step")
            # What follows goes on with what a real step has shown.
            if number in found and name in values:
                scope[name] = example(values[name], fake)
            elif number in found:
                scope.pop(name, None)
    return found


def _is_like(value: Any, about: Sequence[Any]) -> bool:
    if not isinstance(value, torch.Tensor):
        return False
    shape, _, dtype = about
    return list(value.shape) == list(shape) and str(value.dtype) == f"torch.{dtype}"
