"""Recurrent networks as one op against torch's own, whose gradients autograd finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.ops.nn.cudnn_params import Layout

STEPS = 5
_RUN = {
    "lstm": torch.lstm, "gru": torch.gru, "rnn_relu": torch.rnn_relu, "rnn_tanh": torch.rnn_tanh
}  # fmt: skip


def _drawn(of: Layout, batch: int) -> dict[str, np.ndarray]:
    draw = np.random.RandomState(1)
    pseudo, with_memory = of.layers * of.directions, of.mode == "lstm"
    outputs = (STEPS, batch, of.outputs * of.directions)
    memory = (pseudo, batch, of.units) if with_memory else ()
    shapes = {
        "x": (STEPS, batch, of.inputs), "h": (pseudo, batch, of.outputs), "c": memory,
        "params": (of.size(),), "dy": outputs, "dh": (pseudo, batch, of.outputs), "dc": memory,
    }  # fmt: skip
    return {name: np.asarray(draw.uniform(-0.7, 0.7, shape)) for name, shape in shapes.items()}


def _wanted(of: Layout, data: dict[str, np.ndarray], lengths: list[int]) -> list[Any]:
    """Outputs, states and the gradients of x, h, c and parameters, an example at a time."""
    x, h, c, params = (
        torch.tensor(data[name], requires_grad=True) for name in ("x", "h", "c", "params")
    )
    flat = []
    for one in of.weights(params):
        identity = torch.eye(of.inputs, dtype=torch.float64).repeat(of.gates, 1)
        flat += [identity if one.w is None else one.w, one.r, one.bw, one.br]
        flat += [] if one.p is None else [one.p]
    rest = (flat, True, of.layers, 0.0, False, of.directions == 2, False)
    ys, hs, cs = [], [], []
    for example, length in enumerate(lengths):
        at = slice(example, example + 1)
        first: Any = h[:, at].contiguous()
        if of.mode == "lstm":
            first = (first, c[:, at].contiguous())
        found = _RUN[of.mode](x[:length, at], first, *rest)
        padding = torch.zeros(STEPS - length, *found[0].shape[1:], dtype=torch.float64)
        ys.append(torch.cat((found[0], padding)))
        hs.append(found[1])
        cs.append(found[2] if of.mode == "lstm" else c)
    outputs = [torch.cat(ys, 1), torch.cat(hs, 1), torch.cat(cs, 1) if of.mode == "lstm" else c]
    loss = sum((y * torch.tensor(data[d])).sum() for y, d in zip(outputs, ("dy", "dh", "dc")))
    grads = torch.autograd.grad(loss, [x, h, c, params])
    return [value.detach().numpy() for value in (*outputs, *grads)]


def _found(
    of: Layout, data: dict[str, np.ndarray], version: str, lengths: list[int],
    time_major: bool = True, is_training: bool = True,
) -> list[Any]:  # fmt: skip
    def turned(value: Any) -> Any:
        return value if time_major or np.ndim(value) < 3 else np.swapaxes(value, 0, 1)

    with tf.Graph().as_default(), tf.Session() as sess:
        inputs = [tf.constant(turned(data[name])) for name in ("x", "h", "c", "params")]
        attrs: dict[str, Any] = {
            "rnn_mode": of.mode, "direction": of.direction, "input_mode": of.input_mode,
            "is_training": is_training,
        }  # fmt: skip
        if version == "V3":
            attrs |= {"num_proj": of.num_proj, "time_major": time_major}
            call = make("CudnnRNNV3", *inputs, tf.constant(lengths), **attrs)
        else:
            call = make("CudnnRNN" + version, *inputs, **attrs)
        outputs = list(call)[:3]
        if is_training:
            pairs = zip(outputs, ("dy", "dh", "dc"), strict=True)
            loss = tf.add_n([tf.reduce_sum(y * turned(data[d])) for y, d in pairs])
            outputs += tf.gradients(loss, inputs)
        return [turned(value) for value in sess.run(outputs)]


def _check(of: Layout, version: str = "", lengths: list[int] | None = None, **how: Any) -> None:
    full = lengths or [STEPS] * 2
    data = _drawn(of, len(full))
    wanted = _wanted(of, data, full)
    for is_training in (True, False):
        found = _found(of, data, version, full, is_training=is_training, **how)
        for k, one in enumerate(found):
            if of.mode != "lstm" and k in (2, 5):
                continue  # no memory
            np.testing.assert_allclose(one, wanted[k], rtol=1e-9, atol=1e-10, err_msg=f"{of} {k}")


@pytest.mark.parametrize("mode", sorted(_RUN))
@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
def test_network_and_gradients_are_torchs(mode: str, direction: str) -> None:
    _check(Layout(mode, 2, 3, 4, direction))
    _check(Layout(mode, 2, 3, 4, direction), "V2")
    _check(Layout(mode, 2, 3, 4, direction), "V3", [5, 1, 3])
    _check(Layout(mode, 1, 3, 4, direction), "V3", [2, 5], time_major=False)


@pytest.mark.parametrize("mode", sorted(_RUN))
def test_skipped_inputs_are_added_to_the_gates(mode: str) -> None:
    _check(Layout(mode, 2, 3, 3, "bidirectional", "skip_input"))
    assert Layout(mode, 2, 3, 3, input_mode="auto_select").skips
    assert not Layout(mode, 2, 3, 4, input_mode="auto_select").skips


def test_projected_lstm() -> None:
    _check(Layout("lstm", 2, 4, 3, "bidirectional", num_proj=2), "V3", [5, 3])


def test_dropout_is_between_layers_and_the_same_backward() -> None:
    """A network of relus is linear where it is positive, so its gradients show its mask."""
    of = Layout("rnn_relu", 2, 50, 50)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.ones([1, 4, 50], tf.float64)
        params = tf.ones([of.size()], tf.float64)
        states = tf.zeros([2, 4, 50], tf.float64)
        attrs = {"rnn_mode": "rnn_relu", "dropout": 0.25, "seed": 3}
        call = make("CudnnRNN", x, states, tf.zeros([], tf.float64), params, **attrs)
        y, dx = sess.run([call[0], tf.gradients(call[0], x)[0]])
        # Each unit of the first layer is 50 + 2; those that are kept count 4 / 3 in the second.
        kept = (y[0, :, 0] - 2) * 0.75 / 52
        np.testing.assert_allclose(kept, np.round(kept), atol=1e-6)
        assert 20 < kept.mean() < 50
        np.testing.assert_allclose(dx[0, :, 0], kept / 0.75 * 50, rtol=1e-6)
        again, other = sess.run([call[0], tf.identity(call[0])])
        assert not np.array_equal(again, y)
        assert np.array_equal(again, other)


def test_wrong_sizes_are_refused() -> None:
    of = Layout("lstm", 1, 3, 4)
    data = _drawn(of, 2)
    refused = tf.errors.InvalidArgumentError
    with pytest.raises(refused, match="Params size mismatch. Expected 108, got 107"):
        _found(of, data | {"params": data["params"][1:]}, "", [5, 5])
    with pytest.raises(refused, match="Invalid input_h shape"):
        _found(of, data | {"h": data["h"][:, :1]}, "", [5, 5])
    with pytest.raises(refused, match="sequence_lengths must be from 0"):
        _found(of, data, "V3", [5, 6])
    with pytest.raises(refused, match="one element an example"):
        _found(of, data, "V3", [5])
    with pytest.raises(refused, match="skip_input needs input_size"):
        _found(Layout("lstm", 1, 3, 4, input_mode="skip_input"), data, "", [5, 5])


@pytest.mark.timeout(20)
def test_networks_too_large_to_be_are_refused_at_once() -> None:
    most = 2**31 - 1
    refused = tf.errors.InvalidArgumentError
    one, later = 4 * 3 * (4 + 3 + 2), 4 * 3 * (3 + 3 + 2)
    with tf.Graph().as_default(), tf.Session() as sess:
        sizes = [tf.constant(n) for n in (most, 3, 4)]
        wide = make("CudnnRNNParamsSize", *sizes, T=tf.float32, S=tf.int64)
        assert sess.run(wide) == [one + (most - 1) * later]
        narrow = make("CudnnRNNParamsSize", *sizes, T=tf.float32, S=tf.int32)
        with pytest.raises(refused, match="more than 2147483647"):
            sess.run(narrow)
        pieces = make(
            "CudnnRNNParamsToCanonicalV2", *sizes, tf.zeros([108]),
            num_params_weights=8, num_params_biases=8,
        )  # fmt: skip
        with pytest.raises(refused, match=f"Expected {most * 8}, got 8"):
            sess.run(pieces[0][0])
