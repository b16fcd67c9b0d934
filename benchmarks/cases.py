"""The tables: which implementations are compared, which cases they run, what is required.

Everything here is data; ``driver`` measures by it and ``report`` judges by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import data

PENSTOCK = "penstock"
# Penstock of another checkout, which `--against` measures beside this one's.
BEFORE = "penstock_before"
BEST_PEER = "best peer"


@dataclass(frozen=True)
class Implementation:
    """One column of the table.

    Attributes:
        name: Its key in the results.
        interpreter: Path below the repository root; empty for the driver's own interpreter.
        kind: Which case files it runs: "graph", "torch", "torch_compiled" or "jax".
        module: The module that implements the TF1 API (kind "graph") or the package.
        imports: What a user's program imports, for the import case; empty for what another
            implementation imports as well.
        checkout: The folder that the module is imported from, where that is not this one.
    """

    name: str
    interpreter: str
    kind: str
    module: str
    imports: str
    checkout: str = ""


# Penstock loads names when they are first used: the import alone brings in next to nothing.
_PENSTOCK_IMPORTS = "import penstock as tf; tf.constant"
IMPLEMENTATIONS = (
    Implementation(PENSTOCK, "", "graph", "penstock", _PENSTOCK_IMPORTS),
    Implementation(
        "tensorflow",
        ".venv-peers/bin/python",
        "graph",
        "tensorflow.compat.v1",
        "import tensorflow.compat.v1 as tf",
    ),
    Implementation(
        "tensorflow1",
        ".venv-tf115/bin/python",
        "graph",
        "tensorflow",
        "import tensorflow as tf",
    ),
    Implementation("torch", ".venv-peers/bin/python", "torch", "torch", "import torch"),
    Implementation("torch_compiled", ".venv-peers/bin/python", "torch_compiled", "torch", ""),
    Implementation("jax", ".venv-peers/bin/python", "jax", "jax", "import jax"),
)


def before(checkout: str) -> Implementation:
    """Penstock as another checkout has it."""
    return Implementation(BEFORE, "", "graph", "penstock", _PENSTOCK_IMPORTS, checkout)


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        name: Its key in the results, and its function's name in the case files.
        title: What one step does.
        check_steps: Steps run (from the same initial parameters) before any is timed.
        check: How their values must agree between implementations: "same" (first and tenth, to
            1e-3), "random" (finite, falling, and the same mean to 5%), or "" (not compared).
        kinds: The kinds of implementation that can run it.
        rounds: Turns each implementation takes, where that is not as with the other cases.
        moves: Bytes that a step moves to or from files. The driver then says GB/s as well.
        memory: Whether the memory that a step takes beyond what was held is measured too, in a
            row NAME_memory.
        only: The implementations that run it, where not all of its kinds do.
        warm_steps: Steps at least that nobody times before the first turn: who adapts to the
            machine tries what is best in those.
    """

    name: str
    title: str
    check_steps: int = 10
    check: str = "same"
    kinds: tuple[str, ...] = ("graph", "torch", "jax")
    rounds: int | None = None
    moves: int = 0
    only: tuple[str, ...] = ()
    memory: bool = False
    warm_steps: int = 12

    @property
    def memory_row(self) -> str:
        """The row of the memory that a step takes."""
        return f"{self.name}_memory"

    @property
    def times_steps(self) -> bool:
        """Whether its single steps are many and alike: their percentiles say something."""
        return not self.moves and self.name not in _WHOLE


# Cases of which a step is a whole program, or its beginning.
_WHOLE = ("construct", "first_rnn", "first_large", "import", "background", "memory")
_FILES: dict[str, Any] = {
    "check_steps": 2,
    "kinds": ("graph", "torch"),
    "rounds": 5,
    "moves": data.size_of(data.checkpoint_shapes()),
    "memory": True,
    "warm_steps": 1,
}

_FIRST: dict[str, Any] = {"check_steps": 1, "kinds": ("graph",), "rounds": 5, "warm_steps": 1}

# Whole networks: a step each, of all implementations.
_NETWORK: dict[str, Any] = {"kinds": ("graph", "torch", "torch_compiled", "jax")}
_DRAWING: dict[str, Any] = {**_NETWORK, "check_steps": 100, "check": "random"}
_NETWORKS = (
    # A compiled loss would be cut at its sparse matrices.
    Case("gcn", "GCN on Cora's sizes, sparse, dropout, Adam", 100, "random"),
    Case("vae", "784-500-500-20 and back, batch 100, Adam", **_DRAWING),
    Case("dropout", "784-625-625-10, dropout, batch 128, Adam", **_DRAWING),
    Case("gan", "GAN, MLPs of 128, batch 128, both steps, Adam", **_NETWORK),
    Case("dqn", "DQN, 84 x 84 x 4, batch 32, target network, Adam", **_NETWORK),
    Case("wide_deep", "wide and deep, batch 256, FTRL and Adagrad", **_NETWORK),
    Case("resnet50", "ResNet-50, batch 8, logits", check_steps=2, **_NETWORK),
    Case("resnet20", "CIFAR ResNet-20, batch 32, momentum", **_NETWORK),
    Case("encoder", "transformer encoder 4 x 256, batch 8 x 128, Adam", **_NETWORK),
    Case("seq2seq", "LSTMs of 128, attention, 20 + 20 words, batch 32, Adam", **_NETWORK),
)

CASES = (
    Case("null", "feed a scalar, add 1, fetch", check_steps=200),
    Case("softmax", "MNIST softmax regression, batch 100, SGD"),
    Case("mlp", "784-512-512-10, batch 128, Adam"),
    Case("cnn", "MNIST CNN 5x5x32, 5x5x64, 1024, batch 50, Adam"),
    Case(
        "word2vec",
        "NCE, 50000 x 128, batch 128, 64 samples, SGD",
        check_steps=300,
        check="random",
    ),
    Case("lstm", "2 x 200, 20 steps, batch 20, vocabulary 10000, clipped SGD"),
    Case("dynamic_rnn", "LSTM of 200, 5 to 40 steps, batch 32, clipped SGD"),
    Case("loop_empty", f"a while loop that counts to {data.EMPTY_ROUNDS}"),
    Case("loop_gradient", "1,000 rounds of tanh(matmul) and their gradient", memory=True),
    Case("alexnet_forward", "AlexNet, batch 16, logits"),
    Case("alexnet_training", "AlexNet, batch 16, every gradient applied by SGD"),
    *_NETWORKS,
    Case("construct", "build 20 layers with gradients: seconds an op", 3, "", ("graph",)),
    Case("first_rnn", "a new session's first run: 60 LSTM steps, lengths, gradients", **_FIRST),
    Case("first_large", "a new session's first run: a chain of 84,000 nodes", **_FIRST),
    Case("import", "a fresh process that imports the module and has its first function"),
    Case("save", "save 1 GB of variables", **_FILES),
    Case("restore", "restore 1 GB of variables", **_FILES),
    Case(
        "restore_mapped",
        "the same; torch.load maps the file",
        only=(PENSTOCK, "torch"),
        **_FILES,
    ),
    Case("background", "a step of cnn without and during async_save of 512 MiB", 10, "", ()),
    Case("queue_single", "enqueue and dequeue a float32 scalar", 20, "same", ("graph",)),
    Case("queue_batch", "128 x 784 float32 through a FIFOQueue", 20, "same", ("graph",)),
    Case("queue_shuffle", "the same through a RandomShuffleQueue", 20, "same", ("graph",)),
    Case("queue_strings", "128 strings of 100 bytes through a FIFOQueue", 20, "same", ("graph",)),
    # Which batch a step takes depends on how far the pipeline has read ahead.
    Case(
        "jpegs",
        "read, decode, resize 640 jpegs in batches of 32",
        check_steps=1,
        check="",
        kinds=("graph", "torch"),
        warm_steps=2,
    ),
    Case("mlp_queue", "the step of mlp fed by a queue", kinds=("graph",)),
    Case("mlp_prefetch", "the step of mlp fed by Dataset.prefetch", kinds=("graph",)),
    Case("eager_op", "1,000 eager calls of tf.add, 16 x 16", kinds=("graph", "torch")),
    Case("eager_ops", "100 eager calls of each of 17 kinds, 16 x 16", kinds=("graph",)),
    Case("eager_tape", "50 steps of a tape and an update, 16 x 16", kinds=("graph", "torch")),
    Case("eager_defun", "the same by a traced function", kinds=("graph",)),
    Case("memory", "peak resident memory of 20 steps of cnn", check_steps=20),
)

# What `construct` takes for the whole network, whatever the number of ops an implementation
# makes of it: measured by the case `construct`, shown and judged as a row of its own.
CONSTRUCT_BUILD = "construct_build"
# The rows of the case `background`: medians and 95th percentiles of the step.
BACKGROUND_ROWS = ("without", "during", "without_p95", "during_p95")
# Of the single steps of CASE: the rows CASE_p50, CASE_p95, and CASE_cpu, CPU seconds a step.
STEP_ROWS = ("p50", "p95", "cpu")
# What a busy run measures when no cases are named.
BUSY_CASES = (
    *("null", "softmax", "mlp", "cnn", "word2vec", "lstm", "dynamic_rnn"),
    *("alexnet_forward", "alexnet_training"),
)


@dataclass(frozen=True)
class Requirement:
    """Penstock's figure in row ``case`` is at most ``ratio`` times that of ``against``.

    With ``of``, ``against`` is taken from the row of that other case. With ``under``, only where
    what it is compared with is less than so many seconds.
    """

    case: str
    against: str
    ratio: float
    of: str = ""
    under: float = math.inf


def steady(case: str, ratio: float, under: float = math.inf) -> Requirement:
    """That the 95th percentile of the single steps is not far above their median."""
    return Requirement(f"{case}_p95", PENSTOCK, ratio, f"{case}_p50", under)


REQUIREMENTS = (
    Requirement("null", "tensorflow", 1 / 15),
    Requirement("softmax", "tensorflow", 1 / 3),
    Requirement("softmax", BEST_PEER, 1.0),
    Requirement("word2vec", "tensorflow", 0.45),
    Requirement("word2vec", BEST_PEER, 1.0),
    Requirement("cnn", BEST_PEER, 1.0),
    Requirement("lstm", BEST_PEER, 1.0),
    Requirement("dynamic_rnn", "tensorflow", 0.8),
    Requirement("loop_empty", "tensorflow", 0.5),
    Requirement("alexnet_forward", BEST_PEER, 1.0),
    Requirement("alexnet_training", BEST_PEER, 1.0),
    *(Requirement(case.name, BEST_PEER, 1.0) for case in _NETWORKS),
    Requirement("construct", "tensorflow", 1.0),
    Requirement(CONSTRUCT_BUILD, "tensorflow", 1.0),
    Requirement("import", "tensorflow", 1.0),
    Requirement("import", "torch", 1.1),
    Requirement("save", BEST_PEER, 1.0),
    Requirement("restore", BEST_PEER, 1.0),
    Requirement("restore_mapped", BEST_PEER, 1.0),
    Requirement("background_during", PENSTOCK, 1.1, of="background_without"),
    Requirement("queue_single", "tensorflow", 1.0),
    Requirement("queue_batch", "tensorflow", 1.0),
    Requirement("queue_shuffle", "tensorflow", 1.0),
    Requirement("queue_strings", "tensorflow", 1.0),
    Requirement("jpegs", BEST_PEER, 1.0),
    *(
        Requirement(case, peer, 0.5)
        for case in ("eager_op", "eager_ops", "eager_tape", "eager_defun")
        for peer in ("tensorflow", "tensorflow1")
    ),
    Requirement("mlp_queue", PENSTOCK, 1.05, of="mlp"),
    Requirement("mlp_prefetch", PENSTOCK, 1.05, of="mlp"),
    *(steady(case.name, 1.5, under=5e-3) for case in CASES if case.times_steps),
)
# Those of a run beside busy processes.
BUSY_REQUIREMENTS = (
    *(Requirement(case, "tensorflow", 1.0) for case in BUSY_CASES),
    *(Requirement(f"{case}_p50", "tensorflow", 1.0) for case in BUSY_CASES),
    *(steady(case, 2.0) for case in BUSY_CASES),
)


def select(names: list[str]) -> list[Case]:
    """The cases of the given names, in table order; all of them for no names.

    Args:
        names: Case names, each maybe several with commas between.

    Raises:
        ValueError: A name is no case; the message lists those that are.

    Example:
        >>> [case.name for case in select(["cnn,null"])]
        ['null', 'cnn']
    """
    wanted = known_names(names, [case.name for case in CASES], "case")
    return [case for case in CASES if not wanted or case.name in wanted]


def implementations(names: list[str]) -> list[Implementation]:
    """The implementations of the given names likewise."""
    wanted = known_names(names, [each.name for each in IMPLEMENTATIONS], "implementation")
    return [each for each in IMPLEMENTATIONS if not wanted or each.name in wanted]


def known_names(groups: list[str], known: Sequence[str], what: str) -> list[str]:
    """Names out of options that each may hold several, with commas between.

    Raises:
        ValueError: One is not known.
    """
    wanted = [name.strip() for group in groups for name in group.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        listed = ", ".join(known)
        raise ValueError(f"no such {what}: {', '.join(unknown)}; the {what}s are {listed}")
    return wanted
