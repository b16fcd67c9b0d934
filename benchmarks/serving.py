"""A served model beside FastAPI and torch: ``python -m benchmarks.serving``.

The same multilayer perceptron (784, 128, 10) answers single images at 1, 8 and 64 clients, by
turns: ``penstock serve`` over REST, and a minimal FastAPI application that runs the model in
torch's inference mode in a thread, as its documentation shows; both by uvicorn with its C parsers
and one thread of torch. Clients keep their connections. All answers are checked against each other.

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

import numpy as np

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


async def _client(port: int, request: bytes, until: float, times: list[float]) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = b""
    while time.perf_counter() < until:
        began = time.perf_counter()
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        size = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length"))
        body = await reader.readexactly(int(size.split(b":")[1]))
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(f"{head!r} {body!r}")
        times.append(time.perf_counter() - began)
    writer.close()
    return body


async def _load(
    port: int, path: str, clients: int, seconds: float
) -> tuple[list[float], list[bytes]]:
    image = np.random.default_rng(1).random((1, _WIDTHS[0])).round(4)
    body = json.dumps({"instances": image.tolist()}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    until, times = time.perf_counter() + seconds, []
    done = await asyncio.gather(*(_client(port, request, until, times) for _ in range(clients)))
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
        ports = {"penstock": _free_port(), "fastapi": _free_port()}
        paths = {"penstock": "/v1/models/mlp:predict", "fastapi": "/predict"}
        one = os.environ | {"OMP_NUM_THREADS": "1"}
        commands = [
            [sys.executable, "-m", "penstock", "serve", str(folder / "mlp"), "--host", "127.0.0.1",
             "--grpc-port", "-1", "--rest-port", str(ports["penstock"])],
            [fastapi, str(folder / "fast.py"), str(folder / "weights.npz"), str(ports["fastapi"])],
        ]  # fmt: skip
        processes = [subprocess.Popen(c, stdout=subprocess.DEVNULL, env=one) for c in commands]
        try:
            for port in ports.values():
                _wait(port, processes)
            return _by_turns(ports, paths, seconds, rounds)
        finally:
            for process in processes:
                process.terminate()
                process.wait()


def _by_turns(
    ports: dict[str, int], paths: dict[str, str], seconds: float, rounds: int
) -> dict[str, dict[int, list[list[float]]]]:
    found: dict[str, dict[int, list[list[float]]]] = {s: {n: [] for n in CLIENTS} for s in ports}
    answers = set()
    for clients in CLIENTS:
        for turn in range(rounds + 1):
            for system, port in ports.items():
                load = _load(port, paths[system], clients, seconds if turn else seconds / 4)
                times, bodies = asyncio.run(load)
                for body in bodies:
                    row = json.loads(body)["predictions"][0]
                    answers.add(tuple(round(p, 4) for p in row))
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
    print("clients  system     calls/s     p50 ms    p99 ms   (medians of rounds)")
    for clients in CLIENTS:
        for system, rounds in found.items():
            rows = [np.sort(times) * 1e3 for times in rounds[clients]]
            rate = statistics.median(len(t) / args.seconds for t in rows)
            p50 = statistics.median(float(t[len(t) // 2]) for t in rows)
            p99 = statistics.median(float(t[int(len(t) * 0.99)]) for t in rows)
            print(f"{clients:7}  {system:9} {rate:8.0f}   {p50:8.2f}  {p99:8.2f}")


if __name__ == "__main__":
    main()
