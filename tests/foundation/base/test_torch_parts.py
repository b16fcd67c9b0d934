"""Torch without its parts that may wait, each time in a process of its own."""

import subprocess
import sys

import pytest
import torch

from penstock.foundation.base import torch_parts

_TRIED = torch.__version__.startswith(tuple(f"{each}." for each in torch_parts.RELEASES))
_TRIED = _TRIED and not (torch.version.cuda or torch.version.hip)
needs_tried = pytest.mark.skipif(not _TRIED, reason="this build of torch is imported whole")

_START = """
import sys
from penstock.foundation.base import torch_parts
torch_parts.allow()
torch_parts.load()
import torch

def waits(name):
    return type(sys.modules[name]).__name__ == "_Waiting"

assert waits("torch.export") and waits("torch._meta_registrations")
"""


def _run(text: str) -> None:
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


@pytest.mark.long
@needs_tried
def test_kernels_and_draws_leave_it_in_parts() -> None:
    _run(
        _START
        + """
assert torch.ones(2).add(1).numpy().tolist() == [2, 2]
torch.rand(2, generator=torch.Generator().manual_seed(3))
from penstock.ops.math import special
a, x = torch.tensor([[1.0], [2.0]]), torch.tensor([0.5, 0.25])
assert special._betainc(a, a, x).shape == special._igamma_grad_a(a, x).shape == (2, 2)
assert "_meta_registrations" in vars(torch)  # the module, which is empty
assert waits("torch._meta_registrations") and waits("torch.export")
"""
    )


@pytest.mark.long
@needs_tried
@pytest.mark.parametrize(
    "use",
    [
        "torch.export.export",
        pytest.param("import torch._subclasses.fake_tensor", marks=pytest.mark.long),
        # Torch has `torch._refs` from modules that wait.
        pytest.param(
            "assert torch.broadcast_shapes((2, 1), (3,)) == (2, 3)", marks=pytest.mark.long
        ),
    ],
)
def test_the_first_use_makes_it_whole(use: str) -> None:
    _run(
        _START
        + f"""
before = sys.modules["torch.export"]
{use}
assert not any(waits(name) for name in sys.modules if name.startswith("torch"))
assert sys.modules["torch.export"] is torch.export is before
assert torch.export.__spec__.loader is torch.export.__loader__
assert torch.cond is torch._higher_order_ops.cond and torch.vmap is torch.func.vmap
assert torch._subclasses.fake_tensor is sys.modules["torch._subclasses.fake_tensor"]
assert torch.distributions.Normal(0.0, 1.0).sample().shape == ()
assert torch.empty(3, device="meta").cumsum(0).shape == (3,)
assert repr(torch.Generator().manual_seed(3))
"""
    )


@needs_tried
def test_what_is_missing_stays_missing() -> None:
    _run(
        _START
        + """
try:
    torch.no_such_name
except AttributeError as error:
    assert "no_such_name" in str(error)
else:
    raise AssertionError
assert not hasattr(torch.export, "__wrapped__") and waits("torch.export")
"""
    )


def test_who_imports_penstock_has_torch_as_it_is() -> None:
    _run(
        """
import sys
from types import ModuleType
import penstock as tf
tf.constant(1.0)
assert type(sys.modules["torch.export"]) is ModuleType
assert not [f for f in sys.meta_path if type(f).__module__.endswith("torch_parts")]
"""
    )


@pytest.mark.long
def test_a_torch_that_was_there_is_left_alone() -> None:
    _run(
        """
import sys
from types import ModuleType
import torch
from penstock.foundation.base import torch_parts
torch_parts.allow()
torch_parts.load()
assert not [f for f in sys.meta_path if type(f).__module__ == torch_parts.__name__]
assert type(sys.modules["torch.export"]) is ModuleType and torch.vmap is torch.func.vmap
"""
    )
