"""A served model beside FastAPI and torch: ``python -m benchmarks.serving``.

The same multilayer perceptron (784, 128, 10) answers single images at 1, 8 and 64 clients, by
turns: ``penstock serve`` over REST and over gRPC, and a minimal FastAPI application that runs the
model in torch's inference mode in a thread, as its documentation shows; both by uvicorn with its C
parsers and one thread of torch. Clients are tasks of one asyncio process; each keeps a connection
of its own and sends the next request when the last one is answered. A call's time is from there to
here: it includes the client's share, on the cores that the server runs on. gRPC's is larger (grpcio
for asyncio, where REST has a socket and a few lines), its messages smaller (a tensor's bytes in
place of decimal digits). All answers are checked against each other.

FastAPI is looked for in the Python of ``--fastapi`` (default: this one).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import grpc
import numpy as np

from penstock.foundation.formats import serving_messages as messages

CLIENTS = (1, 8, 64)
_WIDTHS = (784, 128, 10)

# What the FastAPI side runs: weights come from a file, the port from the command line.
FASTAPI = """
import sys
import numpy as np, torch, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

torch.set_num_threads(1)
saved = np.load(sys.argv[1])
first, last = torch.nn.Linear(784, 128), torch.nn.Linear(128, 10)
with torch.no_grad():
    first.weight.copy_(torch.tensor(saved["w1"].T)); first.bias.zero_()
    last.weight.copy_(torch.tensor(saved["w2"].T)); last.bias.zero_()
model = torch.nn.Sequential(first, torch.nn.ReLU(), last, torch.nn.Softmax(-1)).eval()
app = FastAPI()

class Rows(BaseModel):
    instances: list[list[float]]

@app.post("/predict")
def predict(rows: Rows):
    with torch.inference_mode():
        return {"predictions": model(torch.tensor(rows.instances)).tolist()}

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning", access_log=False)
"""


def _weights() -> dict[str, np.ndarray]:
    dice = np.random.default_rng(0)
    pairs = zip(_WIDTHS, _WIDTHS[1:], strict=False)
    return {
        f"w{k}": dice.normal(0, 0.05, pair).astype("f4") for k, pair in enumerate(pairs, start=1)
    }


def _export(folder: Path) -> None:
    import penstock as tf

    with tf.Graph().as_default(), tf.Session() as sess:
        x = y = tf.placeholder(tf.float32, [None, _WIDTHS[0]], name="x")
        for k, w in enumerate(_weights().values()):
            y = tf.nn.bias_add(tf.matmul(y, tf.Variable(w)), tf.Variable(tf.zeros(w.shape[1])))
            y = tf.nn.softmax(y) if k else tf.nn.relu(y)
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, str(folder / "mlp" / "1"), {"x": x}, {"y": y})


def _image() -> np.ndarray:
    return np.random.default_rng(1).random((1, _WIDTHS[0])).round(4).astype("f4")


async def _rest(port: int, path: str, until: float, times: list[float]) -> list[float]:
    """One client over HTTP; returns the last answer, none where time was up before it came."""
    sent = json.dumps({"instances": _image().astype("f8").round(4).tolist()}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    request, body = f"{head}Content-Length: {len(sent)}\r\n\r\n".encode() + sent, b""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < until:
        began = time.perf_counter()
        writer.write(request)
        head_ = (await reader.readuntil(b"\r\n\r\n")).lower()
        size = next(line for line in head_.split(b"\r\n") if line.startswith(b"content-length"))
        body = await reader.readexactly(int(size.split(b":")[1]))
        if b" 200 " not in head_.split(b"\r\n")[0]:
            raise RuntimeError(f"{head_!r} {body!r}")
        times.append(time.perf_counter() - began)
    writer.close()
    row: list[float] = json.loads(body)["predictions"][0] if body else []
    return row


async def _grpc(port: int, path: str, until: float, times: list[float]) -> list[float]:
    """The same over gRPC."""
    request = messages.PredictRequest()
    request.model_spec.name = "mlp"
    image, tensor = _image(), request.inputs["x"]
    tensor.dtype, tensor.tensor_content = 1, image.tobytes()
    for size in image.shape:
        tensor.tensor_shape.dim.add().size = size
    sent, answer = request.SerializeToString(), b""
    own = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=own) as channel:
        call = channel.unary_unary(path)
        while time.perf_counter() < until:
            began = time.perf_counter()
            answer = await call(sent)
            times.append(time.perf_counter() - began)
    if not answer:
        return []
    found = messages.PredictResponse.FromString(answer).outputs["y"]
    return list(np.frombuffer(found.tensor_content, "f4")) or list(found.float_val)


# How a system is asked, and where.
SYSTEMS = {
    "penstock": (_rest, "/v1/models/mlp:predict"),
    "penstock-grpc": (_grpc, "/tensorflow.serving.PredictionService/Predict"),
    "fastapi": (_rest, "/predict"),
}


async def _load(
    system: str, port: int, clients: int, seconds: float
) -> tuple[list[float], list[list[float]]]:
    client, path = SYSTEMS[system]
    until, times = time.perf_counter() + seconds, []
    done = await asyncio.gather(*(client(port, path, until, times) for _ in range(clients)))
    return times, done


def _wait(port: int, processes: list[subprocess.Popen[bytes]]) -> None:
    import socket

    until = time.monotonic() + 120
    while True:
        if any(process.poll() is not None for process in processes):
            raise RuntimeError("a server has ended")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def measure(fastapi: str, seconds: float, rounds: int) -> dict[str, dict[int, list[list[float]]]]:
    """Times of all calls: system -> clients -> a list a round."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _export(folder)
        np.savez(folder / "weights.npz", **_weights())
        (folder / "fast.py").write_text(FASTAPI)
        ports = {system: _free_port() for system in SYSTEMS}
        one = os.environ | {"OMP_NUM_THREADS": "1"}
        commands = [
            [sys.executable, "-m", "penstock", "serve", str(folder / "mlp"), "--host", "127.0.0.1",
             "--grpc-port", str(ports["penstock-grpc"]), "--rest-port", str(ports["penstock"])],
            [fastapi, str(folder / "fast.py"), str(folder / "weights.npz"), str(ports["fastapi"])],
        ]  # fmt: skip
        processes = [subprocess.Popen(c, stdout=subprocess.DEVNULL, env=one) for c in commands]
        try:
            for port in ports.values():
                _wait(port, processes)
            return _by_turns(ports, seconds, rounds)
        finally:
            for process in processes:
                process.terminate()
                process.wait()


def _by_turns(
    ports: dict[str, int], seconds: float, rounds: int
) -> dict[str, dict[int, list[list[float]]]]:
    found: dict[str, dict[int, list[list[float]]]] = {s: {n: [] for n in CLIENTS} for s in ports}
    answers: set[tuple[float, ...]] = set()
    for clients in CLIENTS:
        for turn in range(rounds + 1):
            for system, port in ports.items():
                load = _load(system, port, clients, seconds if turn else seconds / 4)
                times, rows = asyncio.run(load)
                answers |= {tuple(round(float(p), 4) for p in row) for row in rows if row}
                if turn:  # the first one warms up
                    found[system][clients].append(times)
    if len(answers) != 1:
        raise RuntimeError(f"answers differ: {answers}")
    return found


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fastapi", default=sys.executable, help="a Python that has FastAPI")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    found = measure(args.fastapi, args.seconds, args.rounds)
    print("clients  system         calls/s     p50 ms    p99 ms   (medians of rounds)")
    for clients in CLIENTS:
        for system, rounds in found.items():
            rows = [np.sort(times) * 1e3 for times in rounds[clients]]
            rate = statistics.median(len(t) / args.seconds for t in rows)
            p50 = statistics.median(float(t[len(t) // 2]) for t in rows)
            p99 = statistics.median(float(t[int(len(t) * 0.99)]) for t in rows)
            print(f"{clients:7}  {system:13} {rate:8.0f}   {p50:8.2f}  {p99:8.2f}")


if __name__ == "__main__":
    main()
