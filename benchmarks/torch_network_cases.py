"""The networks of ``network_cases.py`` in PyTorch, eager and compiled.

``torch.compile`` takes the loss of a batch, what it decides, and the gradient; optimizers are the
fused ones. A case is a function of what wraps the loss: nothing in eager, ``torch.compile`` in
``torch_compiled_cases.py``.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Tuple

import numpy as np
import torch
from torch.nn import functional

from benchmarks import data, network_data
from benchmarks.program import Program

Tensors = Dict[str, torch.Tensor]
Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def eager(function: Callable[..., Any]) -> Callable[..., Any]:
    """Nothing around it."""
    return function


def leaf(value: np.ndarray) -> torch.Tensor:
    """A parameter; a filter is OIHW in channels-last memory."""
    tensor = torch.from_numpy(value.copy())
    if value.ndim == 4:
        tensor = tensor.permute(3, 2, 0, 1).clone(memory_format=torch.channels_last)
    return tensor.requires_grad_()


def leaves(parameters: data.Parameters) -> Tensors:
    """All parameters as leaves."""
    return {name: leaf(value) for name, value in parameters.items()}


def adam(parameters: Iterable[torch.Tensor], rate: float) -> torch.optim.Optimizer:
    """Adam in one kernel."""
    return torch.optim.Adam(list(parameters), lr=rate, fused=True)


def tensors(batch: Iterable[Any]) -> List[torch.Tensor]:
    """A batch of NumPy arrays, which share their memory."""
    return [torch.from_numpy(array) for array in batch]


def with_long(batches: List[data.Batch]) -> List[Tuple[Any, ...]]:
    """Batches whose ids are int64, as PyTorch wants labels."""
    return [
        tuple(array.astype(np.int64) if array.dtype == np.int32 else array for array in batch)
        for batch in batches
    ]


def training(
    loss_of: Callable[..., torch.Tensor],
    optimizer: torch.optim.Optimizer,
    batches: List[Any],
    wrap: Wrap,
) -> Program:
    """A step of an optimizer on the loss of the next batch."""
    cycle = data.Cycle(batches)
    wrapped = wrap(loss_of)

    def step() -> float:
        loss = wrapped(*tensors(cycle()))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    return Program(step)


def gcn(wrap: Wrap = eager) -> Program:
    """The adjacency is the same in each step and symmetric: its gradient multiplies by itself."""
    parameters, batches = network_data.gcn()
    v = leaves(parameters)
    size, kept = network_data.GCN_NODES, network_data.GCN_KEPT
    shape = (size, network_data.GCN_WORDS)

    def product(places: torch.Tensor, values: torch.Tensor, shape: Any, x: Any) -> torch.Tensor:
        matrix = torch.sparse_coo_tensor(places.t(), values, shape, is_coalesced=True)
        return torch.sparse.mm(matrix, x)

    def loss_of(places: Any, values: Any, links: Any, scales: Any, labels: Any, mask: Any) -> Any:
        values = functional.dropout(values, 1.0 - kept)
        hidden = product(links, scales, (size, size), product(places, values, shape, v["w0"]))
        hidden = functional.dropout(hidden.relu_(), 1.0 - kept) @ v["w1"]
        logits = product(links, scales, (size, size), hidden)
        entropies = functional.cross_entropy(logits, labels, reduction="none")
        return (entropies * mask).mean() + network_data.GCN_DECAY * 0.5 * v["w0"].square().sum()

    return training(loss_of, adam(v.values(), network_data.GCN_RATE), batches, wrap)


def vae(wrap: Wrap = eager) -> Program:
    parameters, batches = network_data.vae()
    v = leaves(parameters)

    def layer(x: Any, name: str) -> torch.Tensor:
        return torch.addmm(v[name % "b"], x, v[name % "w"])

    def loss_of(x: torch.Tensor) -> torch.Tensor:
        hidden = functional.softplus(layer(x, "encode_%s0"))
        hidden = functional.softplus(layer(hidden, "encode_%s1"))
        mean, log_variance = layer(hidden, "mean_%s"), layer(hidden, "spread_%s")
        sample = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        hidden = functional.softplus(layer(sample, "decode_%s0"))
        hidden = functional.softplus(layer(hidden, "decode_%s1"))
        seen = torch.sigmoid(layer(hidden, "decode_%s2"))
        likelihood = x * torch.log(1e-10 + seen) + (1 - x) * torch.log(1e-10 + 1 - seen)
        divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(1)
        return (divergence - likelihood.sum(1)).mean()

    return training(loss_of, adam(v.values(), network_data.VAE_RATE), batches, wrap)


def dropout(wrap: Wrap = eager) -> Program:
    parameters, batches = network_data.dropout()
    v = leaves(parameters)
    rate = 1.0 - network_data.DROPOUT_KEPT

    def loss_of(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        hidden = functional.dropout(images, rate)
        for index in range(2):
            hidden = torch.addmm(v["b%d" % index], hidden, v["w%d" % index]).relu_()
            hidden = functional.dropout(hidden, rate)
        return functional.cross_entropy(torch.addmm(v["b2"], hidden, v["w2"]), labels)

    return training(loss_of, adam(v.values(), network_data.DROPOUT_RATE), batches, wrap)


def gan(wrap: Wrap = eager) -> Program:
    parameters, batches = network_data.gan()
    v = leaves(parameters)
    judges = [value for name, value in v.items() if name.startswith("d_")]
    makers = [value for name, value in v.items() if name.startswith("g_")]
    d_optimizer, g_optimizer = (adam(each, network_data.GAN_RATE) for each in (judges, makers))

    def made(noise: torch.Tensor) -> torch.Tensor:
        hidden = torch.addmm(v["g_b0"], noise, v["g_w0"]).relu()
        return torch.sigmoid(torch.addmm(v["g_b1"], hidden, v["g_w1"]))

    def judged(x: torch.Tensor) -> torch.Tensor:
        return torch.addmm(v["d_b1"], torch.addmm(v["d_b0"], x, v["d_w0"]).relu(), v["d_w1"])

    def d_loss(images: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            fake = made(noise)
        return (
            functional.softplus(-judged(images)).mean() + functional.softplus(judged(fake)).mean()
        )

    def g_loss(noise: torch.Tensor) -> torch.Tensor:
        return functional.softplus(-judged(made(noise))).mean()

    wrapped = [(wrap(d_loss), d_optimizer, judges), (wrap(g_loss), g_optimizer, makers)]
    cycle = data.Cycle(batches)

    def step() -> float:
        images, first, second = tensors(cycle())
        total = 0.0
        for (loss_of, optimizer, trained), fed in zip(wrapped, ((images, first), (second,))):
            loss = loss_of(*fed)
            optimizer.zero_grad(set_to_none=True)
            loss.backward(inputs=trained)
            optimizer.step()
            total += loss.item()
        return total

    return Program(step)


def dqn(wrap: Wrap = eager) -> Program:
    parameters, batches = network_data.dqn()
    v = leaves(parameters)
    height, width, channels = network_data.DQN_FEATURES
    for name in ("dense_w", "target_dense_w"):  # its input is flattened in the order NCHW
        rows = parameters[name].reshape(height, width, channels, -1).transpose(2, 0, 1, 3)
        v[name] = leaf(np.ascontiguousarray(rows).reshape(parameters[name].shape))
    trained = [value for name, value in v.items() if not name.startswith("target_")]

    def values_of(frames: torch.Tensor, prefix: str) -> torch.Tensor:
        hidden = frames.permute(0, 3, 1, 2).float() / 255.0
        for name, _, _, stride in network_data.DQN_CONVOLUTIONS:
            w, b = v[prefix + name + "_w"], v[prefix + name + "_b"]
            hidden = functional.conv2d(hidden, w, b, stride).relu_()
        hidden = hidden.flatten(1)
        hidden = torch.addmm(v[prefix + "dense_b"], hidden, v[prefix + "dense_w"]).relu_()
        return torch.addmm(v[prefix + "out_b"], hidden, v[prefix + "out_w"])

    def loss_of(frames: Any, actions: Any, rewards: Any, goes_on: Any, later: Any) -> Any:
        with torch.no_grad():
            best = values_of(later, "target_").amax(1)
            wanted = rewards + network_data.DQN_DISCOUNT * goes_on * best
        taken = values_of(frames, "").gather(1, actions[:, None])[:, 0]
        return functional.smooth_l1_loss(taken, wanted)

    return training(loss_of, adam(trained, network_data.DQN_RATE), with_long(batches), wrap)


def _adagrad_rows(table: torch.Tensor, sums: torch.Tensor, ids: Any, gradient: Any) -> None:
    """Adagrad on the rows of a table that a batch looked up, in the gradient's sums by row."""
    rows, places = torch.unique(ids, return_inverse=True)
    summed = gradient.new_zeros(len(rows), gradient.shape[-1]).index_add_(0, places, gradient)
    squares = sums.index_select(0, rows).addcmul_(summed, summed)
    sums.index_copy_(0, rows, squares)
    table.index_add_(0, rows, summed.div_(squares.sqrt_()), alpha=-network_data.DEEP_RATE)


def _ftrl(w: Any, sums: Any, linear: Any, rows: Any, gradient: Any) -> None:
    """FTRL (no regularization) on rows, each once."""
    old, weights = sums.index_select(0, rows), w.index_select(0, rows)
    squares = old.addcmul(gradient, gradient)
    roots = squares.sqrt()
    sigma = (roots - old.sqrt_()) / network_data.WIDE_RATE
    total = linear.index_select(0, rows).add_(gradient).sub_(sigma * weights)
    sums.index_copy_(0, rows, squares)
    linear.index_copy_(0, rows, total)
    w.index_copy_(0, rows, -total * network_data.WIDE_RATE / roots)


def wide_deep(wrap: Wrap = eager) -> Program:
    """Rows of tables are leaves, and only they are updated."""
    parameters, batches = network_data.wide_deep()
    dense = {
        name: value for name, value in parameters.items() if name[0] in "wb" and name[1:2].isdigit()
    }
    v = leaves(dense)
    wide, wide_b, table = (
        torch.from_numpy(parameters[name].copy()) for name in ("wide", "wide_b", "table")
    )
    filled = [torch.full_like(each, network_data.ACCUMULATED) for each in (wide, wide_b, table)]
    linear = [torch.zeros_like(each) for each in (wide, wide_b)]
    optimizer = torch.optim.Adagrad(
        list(v.values()),
        lr=network_data.DEEP_RATE,
        initial_accumulator_value=network_data.ACCUMULATED,
        eps=0.0,
        fused=True,
    )
    layers = len(network_data.DEEP_LAYERS)

    def loss_of(picked: Any, bias: Any, rows: Any, numbers: Any, labels: Any) -> torch.Tensor:
        hidden = torch.cat([rows.view(network_data.WIDE_BATCH, -1), numbers], 1)
        for index in range(layers):
            hidden = torch.addmm(v["b%d" % index], hidden, v["w%d" % index])
            hidden = hidden.relu_() if index + 1 < layers else hidden
        logits = hidden + picked.view(network_data.WIDE_BATCH, -1).sum(1, keepdim=True) + bias
        return functional.binary_cross_entropy_with_logits(logits, labels)

    wrapped, cycle = wrap(loss_of), data.Cycle(with_long(batches))
    first = torch.zeros(1, dtype=torch.int64)

    def step() -> float:
        wide_ids, deep_ids, numbers, labels = tensors(cycle())
        wide_ids, deep_ids = wide_ids.view(-1), deep_ids.view(-1)
        picked = wide.index_select(0, wide_ids).requires_grad_()
        rows = table.index_select(0, deep_ids).requires_grad_()
        bias = wide_b.clone().requires_grad_()
        loss = wrapped(picked, bias, rows, numbers, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        _adagrad_rows(table, filled[2], deep_ids, rows.grad)
        once, places = torch.unique(wide_ids, return_inverse=True)
        gradient = wide.new_zeros(len(once), 1).index_add_(0, places, picked.grad)
        _ftrl(wide, filled[0], linear[0], once, gradient)
        _ftrl(wide_b, filled[1], linear[1], first, bias.grad)
        return loss.item()

    return Program(step)


CASES: Dict[str, Callable[..., Program]] = {
    case.__name__: case for case in (gcn, vae, dropout, gan, dqn, wide_deep)
}
