"""A GPU that is not there: tensors that torch takes for those of another device, computed here.

``PretendGpu`` is a mode of torch under which device "pretend:0" exists (torch built without CUDA
cannot be made to believe in "cuda:0").  A tensor on it is a wrapper
of one on the CPU: it says that it is on the GPU, has no memory that NumPy could share, and every
operation on it is done by the CPU on what it wraps.  What a real GPU refuses is refused: operands
on different devices (a scalar of the CPU may stand beside a tensor, as in CUDA).

What it cannot tell: whether CUDA has a kernel for a dtype, and anything about streams and speed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten
from torch.utils.backend_registration import (
    _setup_privateuseone_for_python_backend as setup_backend,
)

from penstock.compiler.codegen import moves
from penstock.engine.runtime import gpus, program

_NAME = "pretend"
setup_backend(rename=_NAME)
_COPIES = ("_to_copy", "copy_", "copy", "_copy_from")


class OnGpu(torch.Tensor):
    """A tensor of the pretended device; ``inner`` is what it wraps."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor, device: torch.device) -> OnGpu:
        made = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, inner.shape, strides=inner.stride(), storage_offset=inner.storage_offset(),
            dtype=inner.dtype, device=device,
        )  # fmt: skip
        made.inner = inner
        return made  # type: ignore[no-any-return]

    def tolist(self) -> Any:
        return self.inner.tolist()

    def data_ptr(self) -> int:
        return self.inner.data_ptr()

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.inner.untyped_storage()

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"OnGpu({self.inner!r})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    leaves, spec = tree_flatten((args, kwargs))
    there = [x for x in leaves if isinstance(x, OnGpu)]
    device = _result_device(func, leaves, kwargs)
    if func.overloadpacket.__name__ not in _COPIES:
        _check(func, leaves)
    plain = [_inner(x) for x in leaves]
    known = {id(x.inner): x for x in there}
    inner_args, inner_kwargs = tree_unflatten(plain, spec)
    found = _FUSED.get(func, func)(*inner_args, **inner_kwargs)
    if func.overloadpacket.__name__ == "_to_copy" and "device" in kwargs:
        found = found.clone()
    results, shape = tree_flatten(found)
    if device.type == _NAME:
        results = [_wrapped(x, known, device) for x in results]
    return tree_unflatten(results, shape)


def _fused_gru(inner: Any, hidden: Any, h: Any, bias: Any = None, hidden_bias: Any = None) -> Any:
    inner, hidden = (x if b is None else x + b for x, b in ((inner, bias), (hidden, hidden_bias)))
    (reset, update, new), (h_reset, h_update, h_new) = inner.chunk(3, 1), hidden.chunk(3, 1)
    update = torch.sigmoid(update + h_update)
    new = torch.tanh(new + torch.sigmoid(reset + h_reset) * h_new)
    return new + update * (h - new), new.new_empty(0)


def _fused_lstm(inner: Any, hidden: Any, c: Any, bias: Any = None, hidden_bias: Any = None) -> Any:
    gates = inner + hidden + sum(b for b in (bias, hidden_bias) if b is not None)
    i, f, new, o = gates.chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(new)
    return torch.sigmoid(o) * torch.tanh(c), c, c.new_empty(0)


# Kernels that torch calls on a GPU alone.
_FUSED = {
    torch.ops.aten._thnn_fused_gru_cell.default: _fused_gru,
    torch.ops.aten._thnn_fused_lstm_cell.default: _fused_lstm,
}


def _result_device(func: Any, leaves: list[Any], kwargs: dict[str, Any]) -> torch.device:
    asked = kwargs.get("device")
    if asked is not None:
        device = torch.device(asked)
        index = device.index or 0
        return torch.device(f"{_NAME}:{index}") if device.type == _NAME else device
    if func.overloadpacket.__name__ in _COPIES:
        return leaves[0].device
    found = [x.device for x in leaves if isinstance(x, OnGpu)]
    return found[0] if found else torch.device("cpu")


def _check(func: Any, leaves: list[Any]) -> None:
    """Refuses operands on different devices, but for a scalar of the CPU beside others."""
    tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
    pointwise = torch.Tag.pointwise in func.tags
    fixed = [x for x in tensors if isinstance(x, OnGpu) or x.dim() or not pointwise]
    devices = sorted({str(x.device) for x in fixed})
    if len(devices) > 1:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices,"
            f" {' and '.join(devices)}! ({func})"
        )


def _inner(value: Any) -> Any:
    if isinstance(value, OnGpu):
        return value.inner
    return torch.device("cpu") if isinstance(value, torch.device) else value


def _wrapped(value: Any, known: dict[int, OnGpu], device: torch.device) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    if id(value) in known:
        return known[id(value)]
    # A wrapper has no conjugate bit of its own.
    return OnGpu(value.resolve_conj().resolve_neg(), device)


class PretendGpu(TorchDispatchMode):
    """Under it the device can be asked for."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


@contextmanager
def pretend_gpu(monkeypatch: pytest.MonkeyPatch, count: int = 1) -> Iterator[None]:
    """Sessions list so many GPUs, and programs of this thread can run on them."""
    monkeypatch.setattr(moves, "GPU", _NAME)
    monkeypatch.setattr(gpus, "memory_of_gpus", lambda: (1 << 34,) * count)
    # Wrappers cannot be inference tensors.
    monkeypatch.setattr(program, "InferenceMode", lambda _: None)
    lifted = torch._C._only_lift_cpu_tensors()  # type: ignore[attr-defined]
    torch._C._set_only_lift_cpu_tensors(True)  # type: ignore[attr-defined]
    try:
        with PretendGpu(), torch.no_grad():
            yield
    finally:
        torch._C._set_only_lift_cpu_tensors(lifted)  # type: ignore[attr-defined]
