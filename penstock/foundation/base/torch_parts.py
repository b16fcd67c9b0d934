"""Torch without those of its parts that its compilers and exporters need.

``import torch`` loads 1,100 modules, and most of that time goes to tracing, exporting, tables of
decompositions and distributions, which Penstock's kernels never touch. ``load`` imports torch with
such modules empty. The first use of one, by whomever, makes torch whole: all of them are loaded, in
the order in which torch itself does it, into the same module objects. A module is used when an
attribute of it is read that it does not have, or another module of torch is imported: so
``torch.export.export`` and ``import torch._dynamo`` give what they give otherwise.

What cannot be seen is a call that reads no attribute: some operators on torch's ``meta`` device
have their kernels in such a module. A program that computes on it imports torch before Penstock.

Hence torch comes in parts only where a program was started by ``penstock run``, which knows nothing
of torch, and never for who imports Penstock (``allow``). Which parts may wait is known of the
releases in ``RELEASES``, built for CPUs; others are imported whole, as is a torch that came before
Penstock.

State: whether torch may come in parts, the modules that wait, and the names that torch has of them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from penstock.foundation.base.collector import collector_paused

# Releases (two numbers) for which the rows below were tried.
RELEASES = ("2.13",)
# Modules that wait, with all below them; and those below them that do not, since torch reads them
# while it is imported.
_PARTS = (
    "torch._decomp", "torch._dynamo", "torch._export", "torch._higher_order_ops",
    "torch._inductor", "torch._lazy", "torch._meta_registrations", "torch._native", "torch._prims",
    "torch._refs", "torch._subclasses", "torch.ao", "torch.compiler", "torch.distributed.tensor",
    "torch.distributed._meta_registrations", "torch.distributions", "torch.export", "torch.func",
    "torch.fx", "torch.hub", "torch.masked", "torch.nested", "torch.nn.intrinsic", "torch.nn.qat",
    "torch.nn.quantizable", "torch.nn.quantized", "torch.onnx", "torch.optim", "torch.profiler",
    "torch.quantization", "torch.utils._debug_mode", "torch.utils.data",
)  # fmt: skip
_AT_ONCE = (
    "torch.fx._compatibility",
    "torch.fx.experimental.sym_node",  # asked by C++ about sizes, under a lock
    "torch.fx.operator_schemas",
)
# Names that torch itself takes from a module that waits: it gets them when they are asked for.
_TAKEN = {"torch._higher_order_ops": ("cond", "while_loop"), "torch.func": ("vmap",)}


class _Waiting(ModuleType):
    """A module that is loaded with all others that wait when one is used."""

    def __getattr__(self, name: str) -> Any:
        if _state.loads_here() or (name.startswith("__") and name != "__all__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        whole()
        return getattr(self, name)

    def __dir__(self) -> list[str]:
        if not _state.loads_here():
            whole()
        return sorted(vars(self))


class _Empty(Loader):
    """Makes a module and leaves it empty."""

    def __init__(self, loader: SourceFileLoader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Waiting(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        _state.waiting[module.__name__] = module
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        for name in _TAKEN.get(module.__name__, ()):
            setattr(module, name, None)  # torch copies it; `_Later` stands for it there


class _Filled(Loader):
    """Loads a module into the object that stood for it."""

    def __init__(self, module: ModuleType, loader: SourceFileLoader) -> None:
        self._module, self._loader = module, loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)


class _There(Loader):
    """Gives a module that is loaded already."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def as_spec(self) -> ModuleSpec:
        """A spec of this loader, which is the module's, too: Python asks a module that is there."""
        self._module.__spec__ = found = ModuleSpec(self._module.__name__, self)
        return found

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class _Finder(MetaPathFinder):
    """Finds modules of torch: empty ones while it is imported, and later as they are."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("torch."):
            return None
        if _state.begins:
            return _found(fullname, path, _Empty) if _may_wait(fullname) else None
        if _state.loads_here():
            waits = _state.waiting.get(fullname)
            return None if waits is None else _found(fullname, path, partial(_Filled, waits))
        whole()
        there = sys.modules.get(fullname)
        return None if there is None else _There(there).as_spec()


def _found(
    fullname: str, path: Sequence[str] | None, load: Callable[[SourceFileLoader], Loader]
) -> ModuleSpec | None:
    spec = PathFinder.find_spec(fullname, path)
    if spec is not None and isinstance(spec.loader, SourceFileLoader):
        spec.loader = load(spec.loader)
    return spec


class _State:
    """What waits, and who loads it."""

    def __init__(self) -> None:
        self.allowed = False
        self.begins = False
        self.waiting: dict[str, ModuleType] = {}
        self.lock = threading.RLock()
        self._thread = 0

    def loads_here(self) -> bool:
        """Whether this thread is the one that loads."""
        return self._thread == threading.get_ident()

    def begin(self) -> None:
        self._thread = threading.get_ident()

    def end(self) -> None:
        self._thread = 0


_state = _State()
_finder = _Finder()


def _may_wait(fullname: str) -> bool:
    if fullname in _AT_ONCE or not fullname.startswith(_PARTS):
        return False
    version = sys.modules.get("torch.version")
    release = getattr(version, "__version__", "")
    for_gpus = getattr(version, "cuda", None) or getattr(version, "hip", None)
    if for_gpus or not release.startswith(tuple(f"{each}." for each in RELEASES)):
        return False
    return any(fullname == part or fullname.startswith(f"{part}.") for part in _PARTS)


def allow() -> None:
    """From now on ``load`` leaves out what may wait; for programs that do not know of torch."""
    _state.allowed = True


def load() -> None:
    """Imports torch, if nothing has yet; where that is allowed without its parts that may wait."""
    if "torch" in sys.modules or not _state.allowed:
        return
    _state.begins = True
    sys.meta_path.insert(0, _finder)
    try:
        with collector_paused():
            torch = import_module("torch")
    finally:
        _state.begins = False
        if not _state.waiting:
            sys.meta_path.remove(_finder)
    if _state.waiting:
        _ask_later(torch)
        _let_draw()


def _ask_later(torch: ModuleType) -> None:
    """Has torch get what it took from modules that wait when it is asked for."""
    taken = {
        name: _state.waiting[module]
        for module, names in _TAKEN.items()
        if module in _state.waiting
        for name in names
    }
    for name, module in taken.items():
        delattr(torch, name)
        delattr(module, name)
    before = getattr(torch, "__getattr__", None)

    def get(name: str) -> Any:
        if name in taken:
            value = getattr(taken[name], name)
            setattr(torch, name, value)
            return value
        if _state.waiting and not _state.loads_here() and f"torch.{name}" in _PARTS:
            whole()  # torch gets the module from one that waits
            if name in vars(torch):
                return vars(torch)[name]
        if before is not None:
            return before(name)
        raise AttributeError(f"module 'torch' has no attribute {name!r}")

    torch.__getattr__ = get  # type: ignore[method-assign]


def _let_draw() -> None:
    """Does of a module that waits, ``torch._prims.rng_prims``, what generators need."""
    name = "_set_generator_metaclass"
    getattr(import_module("torch._C"), name)(import_module("torch._opaque_base").OpaqueBaseMeta)


def whole() -> None:
    """Loads all that waits."""
    with _state.lock:
        if not _state.waiting or _state.loads_here():
            return
        names = list(_state.waiting)
        _state.begin()
        for name in names:
            del sys.modules[name]
        try:
            with collector_paused():
                for name in names:
                    import_module(name)
        finally:
            sys.meta_path.remove(_finder)
            for module in _state.waiting.values():
                module.__class__ = ModuleType
            _state.waiting.clear()
            _state.end()
