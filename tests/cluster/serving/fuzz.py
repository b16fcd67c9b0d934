"""Hostile requests to a model server: ``python -m tests.cluster.serving.fuzz --minutes 10``.

Bodies of REST calls and messages of gRPC calls are changed at random, sent, and must be answered:
a REST call by 200 or a 4xx with a reason, a gRPC call by an answer or a status that blames the
request.  Prints how many there were and how memory, threads and files grew; exit status 1 where an
answer is none of these or something grows.
"""

from __future__ import annotations

import argparse
import collections
import gc
import json
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import grpc
import numpy as np

from penstock.cluster.serving.server import ModelServer, Served
from penstock.foundation.formats import serving_messages as messages
from tests.cluster.serving.models_of_tests import (
    PREDICT,
    call,
    channel,
    export_by_examples,
    export_scaled,
    predict_request,
    rest,
    serving,
)

_VALUES = [
    None, True, 0, -1, 1.5, 1e308, 2**63, 10**40, "", "a", "é\ud800", [], {}, [[]], [1, [2]],
    {"b64": "AA=="}, {"b64": 3}, {"b64": "?"}, [[1, 2, 3]], [float("nan")] * 3,
]  # fmt: skip
_BLAMES_THE_REQUEST = {
    grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}  # fmt: skip
_BODIES = [
    ("scaled:predict", {"instances": [[1, 2, 3], [4, 5, 6]]}),
    ("scaled:predict", {"inputs": {"x": [[1, 2, 3]]}, "signature_name": "serving_default"}),
    ("examples:predict", {"instances": ["a", {"b64": "AA=="}], "signature_name": "words"}),
    ("examples:classify", {"examples": [{"v": 0.5}], "context": {"b": 1.0}}),
    ("examples:regress", {"examples": [{"v": 0.5}], "signature_name": "value"}),
]


def changed(value: Any, dice: random.Random) -> Any:
    """A value with one part replaced, dropped or doubled."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(list(value))
        rest_of = {k: v for k, v in value.items() if k != key}
        return rest_of if dice.random() < 0.1 else rest_of | {key: changed(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.8:
        place = dice.randrange(len(value))
        return [*value[:place], changed(value[place], dice), *value[place + 1 :]]
    return dice.choice(_VALUES)


def scrambled(content: bytes, dice: random.Random) -> bytes:
    """Bytes with a few of them changed, dropped or added."""
    made = bytearray(content)
    for _ in range(dice.randint(1, 4)):
        place = dice.randrange(len(made) + 1)
        if dice.random() < 0.5 and place < len(made):
            made[place] = dice.randrange(256)
        elif dice.random() < 0.5:
            del made[place : place + dice.randint(1, 3)]
        else:
            made[place:place] = bytes(dice.randrange(256) for _ in range(dice.randint(1, 3)))
    return bytes(made)


def _rest_once(server: ModelServer, dice: random.Random) -> str:
    path, body = dice.choice(_BODIES)
    for _ in range(dice.randint(1, 3)):
        body = changed(body, dice)
    content = json.dumps(body).encode(errors="replace")
    if dice.random() < 0.3:
        content = scrambled(content, dice)
    status, answer = rest(server, f"/v1/models/{path}", content)
    if status != 200 and not (400 <= status < 500 and answer["error"]):
        raise AssertionError(f"{path} {content[:500]!r}: {status} {answer}")
    return str(status)


def _grpc_once(made: grpc.Channel, dice: random.Random) -> str:
    request = predict_request("scaled", x=np.ones((2, 3), np.float32))
    content = scrambled(request.SerializeToString(), dice)
    try:
        call(made, PREDICT + "Predict", content, messages.PredictResponse)
        return "OK"
    except grpc.RpcError as error:
        code = error.code()  # type: ignore[attr-defined]
        if code not in _BLAMES_THE_REQUEST:
            raise AssertionError(f"{content!r}: {error}") from None
        return str(code.name)


def attack(server: ModelServer, dice: random.Random, until: float) -> collections.Counter[str]:
    """Sends requests until a time; returns how they were answered.

    Raises:
      AssertionError: one was answered wrongly, or a right one is not answered any more.
    """
    counts: collections.Counter[str] = collections.Counter()
    with channel(server) as made:
        while time.monotonic() < until:
            counts[_rest_once(server, dice)] += 1
            counts[_grpc_once(made, dice)] += 1
    right = {"inputs": [[1, 2, 3]]}
    assert rest(server, "/v1/models/scaled:predict", right)[0] == 200
    return counts


def held() -> dict[str, int]:
    """What this process holds."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "resident MiB": pages * os.sysconf("SC_PAGE_SIZE") >> 20,
        "threads": threading.active_count(),
        "files": len(os.listdir("/proc/self/fd")),
    }


def served(folder: Path) -> dict[str, Served]:
    """The models that are attacked."""
    export_scaled(folder / "scaled", 1, 2.0)
    export_by_examples(folder / "examples")
    return {name: Served(str(folder / name)) for name in ("scaled", "examples")}


def main() -> int:
    """Attacks for a while; the first tenth is not counted as growth."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    dice = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder, serving(served(Path(folder))) as server:
        seconds = args.minutes * 60
        counts = attack(server, dice, time.monotonic() + seconds / 10)
        before = held()
        counts += attack(server, dice, time.monotonic() + seconds * 0.9)
        after = held()
    print(dict(counts))
    print("before", before, "after", after)
    grown = after["resident MiB"] - before["resident MiB"] > 32
    return int(grown or after["files"] > before["files"] + 8)


if __name__ == "__main__":
    sys.exit(main())
