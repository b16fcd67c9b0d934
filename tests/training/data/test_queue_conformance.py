"""Random sequences of queue operations give what a model says, and what TensorFlow gives.

A state machine makes up the sequence; a model in a few lines of Python knows what would wait for
ever (such steps are not taken) and what each step gives.  The long run also sends every sequence to
one TensorFlow process.  Where a kind of queue leaves the order open, multisets are compared.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test as run_machine,
)

import penstock as tf
from tests.peers import PEERS, needs
from tests.training.data import queue_sequences
from tests.training.data.queue_sequences import KINDS, Runner, comparable

COUNTS = st.integers(0, 6)


class Model:
    """A queue of elements as lists, which never waits."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.kind, self.capacity, self.kept = spec["kind"], spec["capacity"], spec["min_after"]
        self.elements: list[Any] = []
        self.closed = False

    def would_wait(self, operation: str, argument: Any) -> bool:
        if self.closed:
            return False
        if operation.startswith("enqueue"):
            count = 1 if operation == "enqueue" else len(argument)
            return self.capacity >= 0 and len(self.elements) + count > self.capacity
        if not operation.startswith("dequeue"):
            return False
        count = 1 if operation == "dequeue" else argument
        return bool(count > 0 and count > len(self.elements) - self.kept)

    def step(self, operation: str, argument: Any) -> Any:
        if operation.startswith("enqueue"):
            return self._enqueue([argument] if operation == "enqueue" else argument)
        if operation.startswith("dequeue"):
            return self._dequeue(operation, 1 if operation == "dequeue" else argument)
        if operation in ("close", "cancel"):
            again, self.closed = self.closed and operation == "close", True
            return ["error", "CancelledError"] if again else ["ok", None]
        return ["ok", self.closed if operation == "is_closed" else len(self.elements)]

    def _enqueue(self, elements: list[Any]) -> Any:
        if len({len(e[1]) for e in elements}) > 1 or (
            self.kind != "PaddingFIFOQueue" and any(len(e[1]) != 2 for e in elements)
        ):
            return ["error", "InvalidArgumentError"]
        if self.closed and elements:
            return ["error", "CancelledError"]
        self.elements += elements
        if self.kind == "PriorityQueue":
            self.elements.sort(key=lambda e: e[0])
        return ["ok", None]

    def _dequeue(self, operation: str, count: int) -> Any:
        if count < 0:
            return ["error", "InvalidArgumentError"]
        if operation == "dequeue_up_to" and self.elements:
            count = min(count, len(self.elements))
        if count > len(self.elements):
            return ["error", "OutOfRangeError"]
        taken, self.elements = self.elements[:count], self.elements[count:]
        if operation == "dequeue":
            return ["ok", taken[0]]
        width = max((len(e[1]) for e in taken), default=0)
        padded = [[e[0], e[1] + [0] * (width - len(e[1])), e[2]] for e in taken]
        return ["ok", [list(column) for column in zip(*padded)] or [[], [], []]]


class QueueMachine(RuleBasedStateMachine):
    """Steps in Penstock, each checked against the model; TensorFlow at the end."""

    peer: Any = None

    @initialize(
        kind=st.sampled_from(KINDS),
        capacity=st.sampled_from([-1, 1, 3, 8, 20]),
        kept=st.integers(0, 4),
    )
    def begin(self, kind: str, capacity: int, kept: int) -> None:
        shuffles = kind == "RandomShuffleQueue"
        if capacity >= 0:
            kept = min(kept, capacity - 1)
        self.spec: dict[str, Any] = {
            "kind": kind,
            "capacity": capacity,
            "min_after": kept if shuffles else 0,
            "steps": [],
        }
        self.model = Model(self.spec)
        self.runner = Runner(tf, self.spec)
        self.results: list[Any] = []
        self.made = 0

    def take(self, operation: str, argument: Any = None) -> None:
        if self.model.would_wait(operation, argument) or self.loses(operation, argument):
            return
        self.spec["steps"].append([operation, argument])
        expected = self.model.step(operation, argument)
        found = self.runner.step(operation, argument)
        self.results.append(found)
        if self.spec["kind"] == "RandomShuffleQueue" and found[0] == "ok":
            if operation.startswith("dequeue"):
                self._take_out_of_model(operation, expected, found)
                return
        assert found == expected, (self.spec, found, expected)

    def loses(self, operation: str, argument: Any) -> bool:
        """Whether TensorFlow loses elements: a closed PriorityQueue asked for more than it has.

        2.21 raises OutOfRangeError, also for `dequeue_up_to`, and its size is 0 then.
        """
        model = self.model
        left = len(model.elements)
        asked = operation in ("dequeue_many", "dequeue_up_to") and argument > left > 0
        return asked and model.closed and model.kind == "PriorityQueue"

    def _take_out_of_model(self, operation: str, expected: Any, found: Any) -> None:
        """The random queue gave other elements than the model did: they must be in it."""
        assert expected[0] == "ok"
        one = operation == "dequeue"
        wanted = [expected[1]] if one else [list(e) for e in zip(*expected[1])]
        taken = [found[1]] if one else [list(e) for e in zip(*found[1])]
        assert len(taken) == len(wanted)
        self.model.elements += wanted
        for element in taken:
            self.model.elements.remove(element)

    def element(self, number: int, width: int) -> list[Any]:
        self.made += 1
        number = number if self.spec["kind"] == "PriorityQueue" else self.made
        padding = self.spec["kind"] == "PaddingFIFOQueue"
        if self.peer is not None:
            width = max(width, 1)  # TensorFlow 2.21 dies of padding elements without any entries
        return [number, [self.made] * (width if padding else 2), f"e{self.made}"]

    @rule(number=st.integers(-3, 3), width=COUNTS)
    def enqueue(self, number: int, width: int) -> None:
        self.take("enqueue", self.element(number, width))

    @rule(numbers=st.lists(st.integers(-3, 3), max_size=6), width=COUNTS)
    def enqueue_many(self, numbers: list[int], width: int) -> None:
        # No element has any shape in a padding queue: zero of them are two wide.
        self.take("enqueue_many", [self.element(n, width) for n in numbers])

    @rule()
    def enqueue_wrong_shape(self) -> None:
        if self.spec["kind"] != "PaddingFIFOQueue":
            self.take("enqueue", [1, [1, 2, 3], "wrong"])

    @rule()
    def dequeue(self) -> None:
        self.take("dequeue")

    @rule(operation=st.sampled_from(["dequeue_many", "dequeue_up_to"]), count=st.integers(-1, 6))
    def dequeue_batch(self, operation: str, count: int) -> None:
        self.take(operation, count)

    @rule(operation=st.sampled_from(["size", "is_closed"]))
    def look(self, operation: str) -> None:
        self.take(operation)

    @precondition(lambda self: len(self.results) > 12)
    @rule(operation=st.sampled_from(["close", "cancel"]))
    def close(self, operation: str) -> None:
        self.take(operation)

    def teardown(self) -> None:
        if not hasattr(self, "runner"):
            return
        try:
            self.take("cancel")
            while self.model.elements:
                self.take("dequeue_up_to", min(5, len(self.model.elements)))
            self.take("size")
        finally:
            self.runner.end()
        if self.peer is not None:
            theirs = self.peer.run(self.spec)
            assert comparable(self.spec, self.results) == comparable(self.spec, theirs), self.spec


def _settings(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


@pytest.mark.long
def test_sequences_give_what_the_model_says() -> None:
    run_machine(QueueMachine, settings=_settings(40, 30))


class Peer:
    """A TensorFlow process that runs sequences."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [str(PEERS), str(pathlib.Path(queue_sequences.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.count = 0

    def run(self, spec: dict[str, Any]) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(spec) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("RESULT "):
                self.count += len(spec["steps"])
                return json.loads(line.removeprefix("RESULT "))
        raise AssertionError(f"the TensorFlow process ended in {spec}")

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@pytest.fixture
def peer() -> Iterator[Peer]:
    needs(PEERS)
    one = Peer()
    yield one
    one.end()


@pytest.mark.long
def test_sequences_give_what_tensorflow_gives(peer: Peer) -> None:
    machine = type("PeerMachine", (QueueMachine,), {"peer": peer})
    run_machine(machine, settings=_settings(250, 40))
    assert peer.count > 2000
    print(f"{peer.count} steps compared with TensorFlow")
