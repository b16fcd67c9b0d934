"""Torch modules come in by torch.export, and give what they gave."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

import penstock as tf
from penstock.storage.interchange.model import Unportable
from penstock.storage.interchange.torch_reader import import_torch


class Attention(nn.Module):
    """A block of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.norm, self.second = nn.LayerNorm(16), nn.LayerNorm(16)
        self.inner = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found, _ = self.attention(x, x, x, need_weights=False)
        x = self.norm(x + found)
        return self.second(x + self.inner(x))


class Residual(nn.Module):
    """A block of a ResNet."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, padding=1)
        self.norm, self.norm2 = nn.BatchNorm2d(8), nn.BatchNorm2d(8)
        self.side = nn.Conv2d(3, 8, 1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = torch.relu(self.norm(self.first(x)))
        found = self.norm2(self.second(found)) + self.side(x)
        return torch.relu(found).mean((2, 3))


class Words(nn.Module):
    """A convolutional network over words."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(30, 8)
        self.convolutions = nn.ModuleList([nn.Conv1d(8, 5, width) for width in (2, 3)])
        self.dense = nn.Linear(10, 3)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.table(words).transpose(1, 2)
        found = [torch.relu(each(x)).amax(2) for each in self.convolutions]
        return torch.log_softmax(self.dense(torch.cat(found, 1)), 1)


class Gates(nn.Module):
    """Steps of an LSTM, written out."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.dense = nn.LSTMCell(6, 5), nn.Linear(5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = (torch.zeros(x.shape[0], 5), torch.zeros(x.shape[0], 5))
        for step in range(4):
            state = self.cell(x[:, step], state)
        return self.dense(state[0])


class Arithmetic(nn.Module):
    """Functions of elements, comparisons, shapes."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        both = torch.where(x > y, x - 2 * y, torch.clamp(y, -0.5, 0.5))
        first, second = torch.split(both, 2, 1)
        return (
            torch.stack([first, second], 0).sum((0, 2)) / 3,
            torch.softmax(x.permute(1, 0), 0).argmax(1),
            torch.nn.functional.pad(x, (1, 2), value=0.5)[:, 1:-1:2].exp(),
            x.var(1, keepdim=True).sqrt().expand(-1, 3),
        )


class UpAndDown(nn.Module):
    """Transposed convolutions and sizes changed."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(2, 4, 3, 2, 1, groups=2)
        self.up = nn.ConvTranspose2d(4, 2, 3, 2, 1, output_padding=1)
        self.norm = nn.GroupNorm(2, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = self.up(nn.functional.silu(self.norm(self.down(x))))
        return nn.functional.interpolate(found, size=(12, 12), mode="bilinear")


def _mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3), nn.Tanh())


def _lenet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.Sigmoid(), nn.AvgPool2d(2), nn.Conv2d(6, 8, 3),
        nn.LeakyReLU(0.1), nn.MaxPool2d(2, 1, 1), nn.Flatten(), nn.Linear(8 * 6 * 6, 4),
        nn.Softmax(1),
    )  # fmt: skip


def _mobile() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU6(),
        nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.BatchNorm2d(8), nn.Hardtanh(0, 6),
        nn.Conv2d(8, 16, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.ELU(), nn.Linear(16, 5),
    )  # fmt: skip


def _random(*shape: int) -> torch.Tensor:
    return torch.from_numpy(np.random.RandomState(5).randn(*shape).astype(np.float32))


MODULES: dict[str, tuple[Callable[[], nn.Module], list[torch.Tensor]]] = {
    "mlp": (_mlp, [_random(4, 7)]),
    "lenet": (_lenet, [_random(2, 1, 14, 14)]),
    "mobile": (_mobile, [_random(2, 3, 16, 16)]),
    "residual": (Residual, [_random(2, 3, 12, 12)]),
    "attention": (Attention, [_random(2, 5, 16)]),
    "words": (Words, [torch.arange(12).reshape(2, 6)]),
    "lstm_cell": (Gates, [_random(3, 4, 6)]),
    "arithmetic": (Arithmetic, [_random(3, 4), _random(3, 4) * 0.5]),
    "up_and_down": (UpAndDown, [_random(1, 2, 10, 10)]),
    "lstm": (lambda: nn.LSTM(6, 5, batch_first=True), [_random(2, 7, 6)]),
}


# The others take a second each, which torch.export needs.
_QUICK = ("attention", "mlp")
_NAMES = [
    name if name in _QUICK else pytest.param(name, marks=pytest.mark.long)
    for name in sorted(MODULES)
]


@pytest.mark.parametrize("name", _NAMES)
def test_module_comes_in(name: str) -> None:
    make, args = MODULES[name]
    torch.manual_seed(1)
    module = make().eval()
    with torch.no_grad():
        expected = module(*args)
    flat = torch.utils._pytree.tree_leaves(expected)
    with tf.Graph().as_default(), tf.Session() as session:
        inputs, outputs = import_torch(module, args)
        session.run(tf.global_variables_initializer())
        found = session.run(outputs, dict(zip(inputs, (a.numpy() for a in args), strict=True)))
    for want, have in zip(flat, found, strict=True):
        np.testing.assert_allclose(have, want.numpy(), rtol=1e-5, atol=1e-5)


def test_batches_of_any_size_and_training() -> None:
    torch.manual_seed(1)
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    batch = torch.export.Dim("batch")
    with tf.Graph().as_default(), tf.Session() as session:
        (x,), (y,) = import_torch(module, [_random(2, 3)], dynamic_shapes=[{0: batch}])
        loss = tf.reduce_mean(tf.square(y - 1.0))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        given = {x: _random(9, 3).numpy()}
        np.testing.assert_allclose(
            session.run(y, given), module(_random(9, 3)).detach().numpy(), rtol=1e-5, atol=1e-6
        )
        before = session.run(loss, given)
        for _ in range(20):
            session.run(train, given)
        assert session.run(loss, given) < 0.7 * before


def test_what_has_no_rule_is_named() -> None:
    class Odd(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.special.bessel_j0(x)

    with tf.Graph().as_default(), pytest.raises(Unportable, match="bessel_j0.*no rule"):
        import_torch(Odd(), [_random(3)])
