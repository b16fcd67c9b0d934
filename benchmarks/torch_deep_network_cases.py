"""The networks of ``deep_network_cases.py`` in PyTorch, eager and compiled.

Channels-last convolutions, ``scaled_dot_product_attention``, queries, keys and values by one
product, the encoder's recurrence by ``nn.LSTM``.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

import numpy as np
import torch
from torch.nn import functional

from benchmarks import data, network_data
from benchmarks.program import Program
from benchmarks.torch_loop_cases import lstm_module
from benchmarks.torch_network_cases import (
    Tensors,
    Wrap,
    adam,
    eager,
    leaf,
    leaves,
    training,
    with_long,
)


def _resnet50_logits(v: Tensors, images: torch.Tensor) -> torch.Tensor:
    def normed(x: torch.Tensor, name: str, size: int, stride: int) -> torch.Tensor:
        x = functional.conv2d(x, v[name + "_w"], None, stride, size // 2)
        mean, var, scale, offset = (
            v["%s_%s" % (name, each)] for each in ("mean", "var", "scale", "offset")
        )
        return functional.batch_norm(
            x, mean, var, scale, offset, eps=network_data.NORM_EPSILON, training=False
        )

    x = normed(images.permute(0, 3, 1, 2), "stem", 7, 2).relu_()
    x = functional.max_pool2d(x, 3, 2, ceil_mode=True)
    for name, _, _, stride, projected in network_data.resnet50_blocks():
        shortcut = normed(x, name + "_p", 1, stride) if projected else x
        x = normed(x, name + "_a", 1, 1).relu_()
        x = normed(x, name + "_b", 3, stride).relu_()
        x = normed(x, name + "_c", 1, 1).add_(shortcut).relu_()
    return torch.addmm(v["out_b"], x.mean((2, 3)), v["out_w"])


def resnet50(wrap: Wrap = eager) -> Program:
    parameters, batches = network_data.resnet50()
    v = {name: value.detach() for name, value in leaves(parameters).items()}
    logits, cycle = wrap(lambda images: _resnet50_logits(v, images)), data.Cycle(batches)

    def step() -> np.ndarray:
        with torch.inference_mode():
            return logits(torch.from_numpy(cycle()[0])).numpy()

    return Program(step)


def resnet20(wrap: Wrap = eager) -> Program:
    parameters, batches = network_data.resnet20()
    v = leaves(parameters)
    for name, value in v.items():
        value.requires_grad_(not name.endswith(("_mean", "_var")))

    def normed(x: torch.Tensor, name: str, stride: int) -> torch.Tensor:
        x = functional.conv2d(x, v[name + "_w"], None, stride, 1)
        mean, var, scale, offset = (
            v["%s_%s" % (name, each)] for each in ("mean", "var", "scale", "offset")
        )
        kept, epsilon = network_data.NORM_KEPT, network_data.NORM_EPSILON
        return functional.batch_norm(
            x, mean, var, scale, offset, training=True, momentum=1.0 - kept, eps=epsilon
        )

    def loss_of(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = normed(images.permute(0, 3, 1, 2), "stem", 1).relu_()
        for name, channels, filters, stride in network_data.resnet20_blocks():
            shortcut = x
            if stride > 1:
                more = (filters - channels) // 2
                shortcut = functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, more, more))
            x = normed(x, name + "_a", stride).relu_()
            x = (normed(x, name + "_b", 1) + shortcut).relu_()
        logits = torch.addmm(v["out_b"], x.mean((2, 3)), v["out_w"])
        return functional.cross_entropy(logits, labels)

    optimizer = torch.optim.SGD(
        [value for value in v.values() if value.requires_grad],
        lr=network_data.RESNET20_RATE,
        momentum=network_data.RESNET20_MOMENTUM,
        weight_decay=network_data.RESNET20_DECAY,
        fused=True,
    )
    return training(loss_of, optimizer, with_long(batches), wrap)


def encoder(wrap: Wrap = eager) -> Program:
    parameters, batches = network_data.encoder()
    parameters = dict(parameters)
    for layer in range(network_data.ENCODER_LAYERS):
        for kind in "wb":
            each = [parameters.pop("%s%d_%s" % (name, layer, kind)) for name in "qkv"]
            parameters["qkv%d_%s" % (layer, kind)] = np.concatenate(each, -1)
    v = leaves(parameters)
    width, heads = network_data.ENCODER_WIDTH, network_data.ENCODER_HEADS

    def dense(x: torch.Tensor, name: str) -> torch.Tensor:
        return torch.addmm(v[name + "_b"], x, v[name + "_w"])

    def normed(x: torch.Tensor, name: str) -> torch.Tensor:
        scale, offset = v[name + "_scale"], v[name + "_offset"]
        return functional.layer_norm(x, (width,), scale, offset, network_data.LAYER_EPSILON)

    def loss_of(words: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        size, length = words.shape
        x = (functional.embedding(words, v["words"]) * width**0.5 + v["places"]).view(-1, width)
        for layer in range(network_data.ENCODER_LAYERS):
            parts = dense(x, "qkv%d" % layer).view(size, length, 3, heads, width // heads)
            q, k, values = parts.permute(2, 0, 3, 1, 4).unbind(0)
            mixed = functional.scaled_dot_product_attention(q, k, values)
            mixed = mixed.transpose(1, 2).reshape(-1, width)
            x = normed(x + dense(mixed, "o%d" % layer), "attended%d" % layer)
            inner = dense(x, "inner%d" % layer).relu_()
            x = normed(x + dense(inner, "outer%d" % layer), "passed%d" % layer)
        return functional.cross_entropy(dense(x, "out"), targets.view(-1))

    rate = network_data.ENCODER_RATE
    return training(loss_of, adam(v.values(), rate), with_long(batches), wrap)


def _decoded(v: Tensors, encoded: Any, words: Any, cell: Any, hidden: Any) -> torch.Tensor:
    keys = encoded @ v["memory_w"]
    attention, attended = torch.zeros_like(hidden), []
    for word in words.unbind(1):
        inputs = torch.cat([word, attention, hidden], 1)
        i, j, f, o = torch.addmm(v["decode_b"], inputs, v["decode_w"]).chunk(4, 1)
        cell = torch.sigmoid(f + 1.0) * cell + torch.sigmoid(i) * torch.tanh(j)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        weights = torch.softmax(torch.bmm(keys, hidden[:, :, None])[:, :, 0], 1)
        context = torch.bmm(weights[:, None], encoded)[:, 0]
        attention = torch.tanh(torch.cat([hidden, context], 1) @ v["attend_w"])
        attended.append(attention)
    return torch.stack(attended, 1)


def seq2seq(wrap: Wrap = eager) -> Program:
    parameters, batches = network_data.seq2seq()
    v = {name: leaf(value) for name, value in parameters.items() if "encode" not in name}
    lstm = lstm_module(parameters["encode_w"], parameters["encode_b"])
    trained = [*v.values(), *(each for each in lstm.parameters() if each.requires_grad)]

    def loss_of(source: Any, inputs: Any, targets: Any) -> torch.Tensor:
        encoded, (hidden, cell) = lstm(functional.embedding(source, v["source"]))
        words = functional.embedding(inputs, v["target"])
        attended = _decoded(v, encoded, words, cell[0], hidden[0])
        logits = torch.addmm(v["out_b"], attended.view(-1, attended.shape[2]), v["out_w"])
        total = functional.cross_entropy(logits, targets.view(-1), reduction="sum")
        return total / network_data.SEQ2SEQ_BATCH

    rate = network_data.SEQ2SEQ_RATE
    return training(loss_of, adam(trained, rate), with_long(batches), wrap)


CASES: Dict[str, Callable[..., Program]] = {
    case.__name__: case for case in (resnet50, resnet20, encoder, seq2seq)
}
