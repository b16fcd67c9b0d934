"""Random sequences of barrier, accumulator and staging ops give what TensorFlow 2.21 gives.

Penstock runs each sequence first and leaves out the steps that would block (in TensorFlow a
blocked ``Stage`` cannot even be timed out); TensorFlow then runs what is left, each sequence in a
process of its own.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.engine.resources.blocking import Waiter
from penstock.foundation.graph.build import make
from penstock.foundation.opdef.registry import OPS
from tests.peers import PEERS, needs
from tests.training.data.sync_sequences import FAMILIES, NOT_RUN, Step, plain

SEEDS = range(4)

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:this session has compiled"),
]


def _operand(given: Any, made: dict[int, Any]) -> Any:
    if isinstance(given, int):
        return made[given]
    if given and isinstance(given[0], list):
        return [_operand(g, made) for g in given]
    dtype, value = given
    return tf.constant(value, getattr(tf, dtype))


def _attribute(kind: str, value: Any) -> Any:
    if kind == "type":
        return getattr(tf, value)
    if kind == "types":
        return [getattr(tf, v) for v in value]
    if kind == "shape":
        return tf.TensorShape(value)
    return [tf.TensorShape(v) for v in value] if kind == "shapes" else value


def _flat(fetched: Any) -> list[Any]:
    if isinstance(fetched, list | tuple):
        return [leaf for item in fetched for leaf in _flat(item)]
    return [fetched]


def _op(made: Any) -> Any:
    first = _flat(made)[0]
    return getattr(first, "op", first)


def run(steps: list[Step]) -> tuple[list[Step], list[Any]]:
    """The steps that are to be the same in TensorFlow, and their results."""
    kept: list[Step] = []
    results: list[Any] = []
    with tf.Graph().as_default(), tf.Session() as session:
        made: dict[int, Any] = {}
        last: list[int] = []
        for step in steps:
            inputs = [_operand(step["inputs"][arg.name], made) for arg in OPS[step["op"]].inputs]
            attrs = {k: _attribute(*v) for k, v in step["attrs"].items()}
            if "chained" in step:
                step = {**step, "after": last}
            with tf.control_dependencies([_op(made[n]) for n in step.get("after", ())]):
                out = make(step["op"], *inputs, **attrs)
            made[len(kept)] = out
            if step["op"].endswith(NOT_RUN):
                result: Any = None
            else:
                try:
                    fetched = session.run(
                        out if not isinstance(out, tuple) else _flat(out),
                    )
                    if isinstance(fetched, list) and len(fetched) == 1:
                        fetched = fetched[0]
                    result = plain(fetched)
                except tf.errors.DeadlineExceededError:
                    continue
                except tf.errors.OpError as error:
                    # TensorFlow accepts a second tuple of a key and loses it; and its process dies
                    # when any key's component is asked for and was taken already.
                    lost = "whole tuple of key" in error.message
                    if lost or "taken already" in error.message and "NoKey" in step["op"]:
                        continue
                    result = type(error).__name__
                else:
                    last = [len(kept)] if "chained" in step else last
            kept.append(step)
            results.append(result)
    return kept, results


def test_sequences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A wait ends at once as one that is over its deadline: no other step could end it.
    monkeypatch.setattr(Waiter, "block", lambda self, seconds: False)
    needs(PEERS)
    names, sequences, wanted = [], [], []
    for name, generate in FAMILIES.items():
        for seed in SEEDS:
            steps, results = run(generate(random.Random(f"{name}{seed}")))
            names.append(f"{name} {seed}")
            sequences.append(steps)
            wanted.append(results)
    given, found = tmp_path / "sequences.json", tmp_path / "results.json"
    given.write_text(json.dumps(sequences))
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment["PYTHONPATH"] = str(Path(__file__).parent)
    command = [str(PEERS), str(Path(__file__).with_name("sync_peer.py")), str(given), str(found)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    differences = []
    for name, steps, mine, theirs in zip(
        names, sequences, wanted, json.loads(found.read_text()), strict=True
    ):
        for number, (step, a, b) in enumerate(zip(steps, mine, theirs, strict=True)):
            if json.loads(json.dumps(a)) != b:
                differences.append(f"{name}, step {number} {step}: {a}; TensorFlow: {b}")
                break
    assert not differences, "\n".join(differences)
