"""Compiling a stretch: its lines traced to ATen operators, and those made a shared library.

What reaches the compiler is the traced graph alone: ATen operators, numbers and shapes.  Names of
the user's graph are in none of it; where torch notes where an operator came from, that is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch._inductor
from torch._inductor import config, mkldnn_lowerings
from torch._inductor.codegen.cpp import CppKernel
from torch._inductor.fx_passes.reinplace import InplaceableOp, inplaceable_ops
from torch._inductor.ir import FixedLayout, MultiOutput, MultiOutputLayout, TensorBox
from torch._inductor.lowering import lowerings
from torch._inductor.mkldnn_ir import LinearUnary
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

from penstock.engine.native.formulas import FORMULAS
from penstock.engine.native.indices import Indices
from penstock.engine.native.tracing import Held, example, with_tensors

aten = torch.ops.aten


def _with_product(plain: Any) -> Callable[..., Any]:
    """``a + alpha b`` as a product and a sum: torch 2.13 makes ``addmm`` of it, without alpha."""

    def decomposed(a: Any, b: Any, *, alpha: Any = 1) -> Any:
        return NotImplemented if alpha == 1 else plain(a, b * alpha)

    return decomposed


_INSTEAD = FORMULAS | {
    op: _with_product(op)
    for op in (aten.add.Tensor, aten.add_.Tensor, aten.sub.Tensor, aten.sub_.Tensor)
}
# What tracebacks call the lines of a stretch.
FILE = "<stretch>"
_PROXY = "aoti_torch_proxy_executor_call_function("


def traced(
    text: str,
    given: Sequence[str],
    resources: Sequence[str],
    constants: Sequence[str],
    gives: Sequence[str],
    values: Mapping[str, Sequence[Any]],
    functions: Mapping[str, Any],
) -> tuple[Any, list[Any], list[int], list[list[int]]]:
    """The graph of a stretch.

    Args:
      text: its lines.
      given, resources, constants, gives: as a ``Stretch`` has them.
      values: shape, strides and dtype of what is given.
      functions: the kernels by their names in the text.

    Returns:
      The graph; example inputs (what is given, the variables' values, the constants); which of
      the resources it updates; positions of indices among the example inputs, and what they must
      be less than.
    """
    names = [*given, *resources, *constants]
    text, functions = with_tensors(text.rstrip("\n"), functions)
    code = compile(text, FILE, "exec")
    written: set[str] = set()
    copied: set[str] = set()
    limits: dict[str, int] = {}

    def run(*args: Any) -> tuple[Any, ...]:
        scope: dict[str, Any] = {**functions, "torch": torch}
        for name, arg in zip(names, args, strict=True):
            scope[name] = Held(arg) if name in resources else arg
        for name in copied:
            scope[name] = scope[name].clone()
        indices = Indices({name: scope[name] for name in (*given, *constants)})
        with Writes(args) as writes, indices:
            exec(code, scope)
        limits.update(indices.limits)
        written.update(names[i] for i in writes.written)
        return tuple(_own(scope[name], args) for name in gives)

    inputs = [example(values[name]) for name in names]
    with torch.no_grad():
        trace = make_fx(run, _INSTEAD, tracing_mode="fake")
        graph = trace(*inputs)
        # A program may overwrite what nothing needs after a stretch; a copy that is never read in
        # its first state costs nothing once compiled.
        copied.update(written - set(resources))
        if copied:
            graph = trace(*inputs)
    for node in graph.graph.nodes:
        for note in ("stack_trace", "source_fn_stack", "nn_module_stack"):
            node.meta.pop(note, None)
    updates = [i for i, name in enumerate(resources) if name in written]
    bounds = [[i, limits[name]] for i, name in enumerate(names) if name in limits]
    return graph, inputs, updates, bounds


def _own(value: Any, args: Sequence[Any]) -> Any:
    """A value in memory that none of the arguments lies in."""
    shared = any(_shares(value, arg) for arg in args)
    return value.clone() if shared else value


def _shares(one: Any, other: Any) -> bool:
    """Whether two tensors lie in one memory; those without numbers have one, too."""
    same: bool = torch._C._is_alias_of(one, other)  # type: ignore[attr-defined]
    return same


class Writes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees which of some tensors' memories are written.

    Args:
      watched: the tensors.
    """

    def __init__(self, watched: Sequence[Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._watched = watched
        # Their positions.
        self.written: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, _, overload = func.name().partition(".")
        arguments = torch._C._get_schema(name, overload).arguments
        given = dict(zip((argument.name for argument in arguments), args, strict=False))
        given.update(kwargs or {})
        for argument in arguments:
            if argument.alias_info is not None and argument.alias_info.is_write:
                self._note(given.get(argument.name))
        return func(*args, **(kwargs or {}))

    def _note(self, tensor: Any) -> None:
        if isinstance(tensor, torch.Tensor):
            for index, watched in enumerate(self._watched):
                if _shares(tensor, watched):
                    self.written.add(index)


def build(graph: Any, inputs: Sequence[Any], path: Path, threads: int) -> None:
    """Makes a shared library of a graph.

    Args:
      graph, inputs: as ``traced`` gives them.
      path: of the library.
      threads: that large loops are worth being split among.

    Raises:
      RuntimeError: torch's compiler calls an operator that needs Python; any other of its errors.
    """
    options = {
        "aot_inductor.output_path": str(path),
        "aot_inductor.precompile_headers": False,
        "cpp_cache_precompile_headers": False,
        "cpp.threads": threads,
        # The team is that of the step, whatever its size when it runs.
        "cpp.dynamic_threads": True,
        # Rows that are added to a table: by torch's kernel, not one number at a time.
        "cpp.fallback_scatter_reduce_sum": True,
        "compile_threads": 1,
        # Indices are looked at before the call.
        "assert_indirect_indexing": False,
    }
    known = config.get_config_copy()
    _keep_linear()
    _add_in_place()
    with torch.no_grad(), _small_loops_alone():
        torch._inductor.aot_compile(
            graph, tuple(inputs), options={k: v for k, v in options.items() if k in known}
        )
    for wrapper in path.parent.glob("*.wrapper.cpp"):
        if _PROXY in wrapper.read_text(errors="replace"):
            raise RuntimeError("an operator has no C function")


def _add_in_place() -> None:
    """Rows are added to those of a table where it lies; torch copies all of it before."""
    inplaceable_ops[aten.scatter_add.default] = InplaceableOp(aten.scatter_add_.default, 0)


def _keep_linear() -> None:
    """oneDNN's product with its bias is called as it is, of what lies in memory in any order.

    torch takes it of frozen weights alone, and copies what does not lie row by row.
    """
    assert mkldnn_lowerings  # has registered its own before
    lowerings[torch.ops.mkldnn._linear_pointwise.default] = _linear


def _linear(x: Any, w: Any, b: Any, attr: Any, scalars: Any, algorithm: Any) -> Any:
    kernel: Any = LinearUnary
    inputs = [kernel.realize_input(each) for each in (x, w, b) if each is not None]
    rest = [attr, scalars or [-1], algorithm]
    size = [*inputs[0].get_size()[:-1], inputs[1].get_size()[0]]
    layout = FixedLayout(device=x.get_device(), dtype=x.get_dtype(), size=size)
    packed = kernel(layout, inputs, rest if b is not None else [None, *rest])
    made: Any = MultiOutput(layout, packed, [])
    packed.layout = MultiOutputLayout(device=x.get_device())
    packed.outputs = [made]
    return TensorBox.create(made)


@contextmanager
def _small_loops_alone() -> Iterator[None]:
    """Loops with too little work stay on one thread also where teams have any size."""
    kernels: Any = CppKernel
    decide = kernels.decide_parallel_depth

    def with_known_threads(kernel: Any, depth: Any, threads: int) -> Any:
        with config.patch({"cpp.dynamic_threads": False}):
            return decide(kernel, depth, threads)

    kernels.decide_parallel_depth = with_known_threads
    try:
        yield
    finally:
        kernels.decide_parallel_depth = decide
