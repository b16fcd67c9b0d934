"""The cases in PyTorch eager: autograd, ``torch.optim``, written for speed as its users would.

Fused optimizers, in-place relu, channels-last convolutions, gradients set to None; embedding
rows are gathered as leaves and updated with ``index_add_``, so that no dense gradient of a table
is ever made.
"""

from __future__ import annotations

import io
import os
import random
import shutil
import tempfile
from typing import Any, Callable, Dict, Iterator, List

import numpy as np
import torch
from torch.nn import functional

from benchmarks import checkpoint_cases, data, pipeline_cases
from benchmarks.program import Program

Tensors = Dict[str, torch.Tensor]


# Penstock and JAX take a GPU where there is one, too.
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _tensor(value: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(value).to(DEVICE)


def _leaf(value: np.ndarray) -> torch.Tensor:
    return _tensor(value.copy()).requires_grad_()


def _filter(value: np.ndarray) -> torch.Tensor:
    """An HWIO filter as OIHW in channels-last memory."""
    oihw = _tensor(value).permute(3, 2, 0, 1)
    return oihw.clone(memory_format=torch.channels_last).requires_grad_()


def _after_flatten(value: np.ndarray, features: Any) -> torch.Tensor:
    """A dense weight whose input is an image flattened in NCHW order instead of NHWC."""
    height, width, channels = features
    rows = value.reshape(height, width, channels, -1).transpose(2, 0, 1, 3)
    return _leaf(np.ascontiguousarray(rows).reshape(value.shape))


def _images(images: np.ndarray) -> torch.Tensor:
    """NHWC in NumPy is NCHW in channels-last memory: no copy."""
    return _tensor(images).permute(0, 3, 1, 2)


def _training(
    loss_of: Callable[..., torch.Tensor], optimizer: torch.optim.Optimizer, batches: List[Any]
) -> Program:
    cycle = data.Cycle(batches)

    def step() -> float:
        loss = loss_of(*cycle())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    return Program(step)


def null() -> Program:
    def step() -> float:
        return (torch.tensor(3.0) + 1.0).item()

    return Program(step)


def softmax() -> Program:
    parameters, batches = data.softmax()
    w, b = _leaf(parameters["w"]), _leaf(parameters["b"])

    def loss_of(images: np.ndarray, labels: np.ndarray) -> torch.Tensor:
        logits = torch.addmm(b, _tensor(images), w)
        return functional.cross_entropy(logits, _tensor(labels))

    return _training(loss_of, torch.optim.SGD([w, b], lr=0.5, fused=True), batches)


def mlp() -> Program:
    parameters, batches = data.mlp()
    v = {name: _leaf(value) for name, value in parameters.items()}

    def loss_of(images: np.ndarray, labels: np.ndarray) -> torch.Tensor:
        hidden = torch.addmm(v["b0"], _tensor(images), v["w0"]).relu_()
        hidden = torch.addmm(v["b1"], hidden, v["w1"]).relu_()
        logits = torch.addmm(v["b2"], hidden, v["w2"])
        return functional.cross_entropy(logits, _tensor(labels))

    return _training(loss_of, torch.optim.Adam(list(v.values()), lr=1e-3, fused=True), batches)


def cnn() -> Program:
    parameters, batches = data.cnn()
    v: Tensors = {}
    for name, value in parameters.items():
        v[name] = _filter(value) if value.ndim == 4 else _leaf(value)
    v["dense_w"] = _after_flatten(parameters["dense_w"], (7, 7, 64))

    def loss_of(images: np.ndarray, labels: np.ndarray) -> torch.Tensor:
        hidden = _images(images)
        for name in ("conv1", "conv2"):
            hidden = functional.conv2d(hidden, v[name + "_w"], v[name + "_b"], padding=2).relu_()
            hidden = functional.max_pool2d(hidden, 2)
        hidden = torch.addmm(v["dense_b"], hidden.flatten(1), v["dense_w"]).relu_()
        logits = torch.addmm(v["out_b"], hidden, v["out_w"])
        return functional.cross_entropy(logits, _tensor(labels))

    return _training(loss_of, torch.optim.Adam(list(v.values()), lr=1e-4, fused=True), batches)


def word2vec() -> Program:
    parameters, batches = data.word2vec()
    embeddings = _tensor(parameters["embeddings"].copy())
    weights = _tensor(parameters["nce_weights"].copy())
    biases = _tensor(parameters["nce_biases"].copy())
    log_not_drawn = _tensor(data.log_not_drawn())
    draw = random.Random(7).random
    cycle = data.Cycle(
        [(words.astype(np.int64), labels.astype(np.int64).ravel()) for words, labels in batches]
    )
    size = 128

    def step() -> float:
        words, labels = (_tensor(ids) for ids in cycle())
        candidates, tries = data.log_uniform_unique(
            draw, data.WORD2VEC_VOCABULARY, data.WORD2VEC_SAMPLED
        )
        classes = torch.cat([labels, _tensor(np.asarray(candidates))])
        x = embeddings.index_select(0, words).requires_grad_()
        w = weights.index_select(0, classes).requires_grad_()
        b = biases.index_select(0, classes).requires_grad_()
        shift = b - torch.expm1(log_not_drawn.index_select(0, classes) * tries).neg_().log_()
        true_logits = (x * w[:size]).sum(1) + shift[:size]
        sampled_logits = torch.addmm(shift[size:], x, w[size:].t())
        loss = (
            functional.softplus(-true_logits).sum() + functional.softplus(sampled_logits).sum()
        ) / size
        loss.backward()
        embeddings.index_add_(0, words, x.grad, alpha=-1.0)
        weights.index_add_(0, classes, w.grad, alpha=-1.0)
        biases.index_add_(0, classes, b.grad, alpha=-1.0)
        return loss.item()

    return Program(step)


def lstm() -> Program:
    parameters, batches = data.lstm()
    v = {name: _leaf(value) for name, value in parameters.items() if name != "embedding"}
    embedding = _tensor(parameters["embedding"].copy())
    optimizer = torch.optim.SGD(list(v.values()), lr=1.0, fused=True)
    cycle = data.Cycle(
        [
            (words.astype(np.int64).ravel(), targets.astype(np.int64).ravel(), state)
            for words, targets, state in batches
        ]
    )

    def step() -> float:
        words, targets, state = (_tensor(array) for array in cycle())
        rows = embedding.index_select(0, words).requires_grad_()
        sequence = rows.view(data.LSTM_BATCH, data.LSTM_STEPS, data.LSTM_UNITS).unbind(1)
        for layer in range(data.LSTM_LAYERS):
            cell, hidden = state[2 * layer], state[2 * layer + 1]
            w, b = v["w%d" % layer], v["b%d" % layer]
            outputs = []
            for x in sequence:
                i, j, f, o = torch.addmm(b, torch.cat([x, hidden], 1), w).chunk(4, 1)
                cell = torch.sigmoid(f + 1.0) * cell + torch.sigmoid(i) * torch.tanh(j)
                hidden = torch.sigmoid(o) * torch.tanh(cell)
                outputs.append(hidden)
            sequence = tuple(outputs)
        flat = torch.stack(sequence, 1).view(-1, data.LSTM_UNITS)
        logits = torch.addmm(v["out_b"], flat, v["out_w"])
        loss = functional.cross_entropy(logits, targets, reduction="sum") / data.LSTM_BATCH
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([rows, *v.values()], data.LSTM_CLIP_NORM)
        optimizer.step()
        embedding.index_add_(0, words, rows.grad, alpha=-1.0)
        return loss.item()

    return Program(step)


def _alexnet_parameters(parameters: data.Parameters) -> Tensors:
    v = {}
    for name, value in parameters.items():
        v[name] = _filter(value) if value.ndim == 4 else _leaf(value)
    v["fc6_w"] = _after_flatten(parameters["fc6_w"], data.ALEXNET_FEATURES)
    return v


def _alexnet_logits(v: Tensors, images: np.ndarray) -> torch.Tensor:
    hidden = _images(images)
    for name, size, _, stride, padding, pool in data.ALEXNET_CONVOLUTIONS:
        margin = size // 2 if padding == "SAME" else 0
        hidden = functional.conv2d(hidden, v[name + "_w"], v[name + "_b"], stride, margin).relu_()
        if pool:
            hidden = functional.max_pool2d(hidden, 3, 2)
    hidden = hidden.flatten(1)
    for name, _ in data.ALEXNET_DENSE:
        hidden = torch.addmm(v[name + "_b"], hidden, v[name + "_w"])
        if name != data.ALEXNET_DENSE[-1][0]:
            hidden = hidden.relu_()
    return hidden


def alexnet_forward() -> Program:
    parameters, batches = data.alexnet()
    v = _alexnet_parameters(parameters)
    cycle = data.Cycle(batches)

    def step() -> np.ndarray:
        with torch.inference_mode():
            return _alexnet_logits(v, cycle()[0]).numpy()

    return Program(step)


def alexnet_training() -> Program:
    parameters, batches = data.alexnet()
    v = _alexnet_parameters(parameters)

    def loss_of(images: np.ndarray, labels: np.ndarray) -> torch.Tensor:
        return functional.cross_entropy(_alexnet_logits(v, images), _tensor(labels))

    batches = [(images, labels.astype(np.int64)) for images, labels in batches]
    return _training(loss_of, torch.optim.SGD(list(v.values()), lr=0.001, fused=True), batches)


def _state() -> Tensors:
    return {name: torch.rand(shape) for name, shape in data.checkpoint_shapes().items()}


def save() -> Program:
    directory = tempfile.mkdtemp(prefix="benchmark-")
    path = os.path.join(directory, "model.pt")
    state = _state()

    def step() -> float:
        torch.save(state, path)
        return os.path.getsize(path) / 1e9

    def between() -> None:
        checkpoint_cases.remove_files(directory)

    return Program(step, lambda: shutil.rmtree(directory), between=between)


def _restore(mapped: bool) -> Program:
    directory = tempfile.mkdtemp(prefix="benchmark-")
    path = os.path.join(directory, "model.pt")
    state = _state()
    last = list(state.values())[-1]
    torch.arange(len(last), out=last)
    torch.save(state, path)
    last.zero_()
    checkpoint_cases.settle_files(directory)

    def step() -> np.ndarray:
        # As Module.load_state_dict: the values go into the parameters that are there.
        loaded = torch.load(path, mmap=mapped)
        for name, value in state.items():
            value.copy_(loaded[name])
        return last.numpy().copy()

    return Program(step, lambda: shutil.rmtree(directory))


def restore() -> Program:
    return _restore(mapped=False)


def restore_mapped() -> Program:
    return _restore(mapped=True)


class _Jpegs(torch.utils.data.Dataset):
    """Files, read, decoded and resized one at a time."""

    def __init__(self, files: List[str]) -> None:
        self._files = files

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> torch.Tensor:
        from PIL import Image

        with Image.open(self._files[index]) as image:
            pixels = torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1)[None]
        size = (pipeline_cases.JPEG_SIZE,) * 2
        return functional.interpolate(pixels.float(), size, mode="bilinear")[0]


class _OverAndOver(torch.utils.data.Sampler):
    """The indices in order, without an end."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __iter__(self) -> Iterator[int]:
        while True:
            yield from range(self._count)


def _jpeg(image: np.ndarray) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def jpegs() -> Program:
    files = pipeline_cases.jpeg_files(_jpeg)
    batches = iter(
        torch.utils.data.DataLoader(
            _Jpegs(files),
            pipeline_cases.JPEG_BATCH,
            sampler=_OverAndOver(len(files)),
            num_workers=pipeline_cases.JPEG_THREADS,
        )
    )

    def step() -> float:
        count = pipeline_cases.JPEG_BATCHES
        return float(np.mean([next(batches)[:, :, ::16, ::16].mean() for _ in range(count)]))

    return Program(step)


CASES: Dict[str, Callable[[], Program]] = {
    case.__name__: case
    for case in (
        null,
        softmax,
        mlp,
        cnn,
        word2vec,
        lstm,
        alexnet_forward,
        alexnet_training,
        save,
        restore,
        restore_mapped,
        jpegs,
    )
}
