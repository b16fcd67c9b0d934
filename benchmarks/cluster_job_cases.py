"""Training by a small job on one machine: parameters on the ps, batches on the workers.

The networks, initial values and batches of ``graph_cases``: MNIST softmax regression by gradient
descent, the 784-512-512-10 perceptron by Adam, and word2vec, whose steps take and change a few rows
of large tables. Variables are dealt out by ``replica_device_setter``; each worker feeds its batch,
and trains without waiting for the others.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Sequence

from benchmarks import data
from benchmarks.cluster_program import Place, Program, config_of
from benchmarks.graph_cases import digit_loss, mlp_logits, softmax_logits, word_loss

# (tf, variables, placeholders of a batch) -> loss
Loss = Callable[[Any, Dict[str, Any], Sequence[Any]], Any]


def _train(
    tf: Any,
    place: Place,
    case: data.CaseData,
    loss_of: Loss,
    optimizer: Any,
    size: Optional[int] = None,
) -> Program:
    """A worker's program; ``size`` is that of all batches, where the graph shall know it."""
    worker = "/job:worker/task:%d" % place.index
    graph = tf.Graph()
    with graph.as_default(), graph.container(place.container):
        with tf.device(tf.train.replica_device_setter(place.ps, worker_device=worker)):
            initial, variables = {}, {}
            for name, value in case.parameters.items():
                start = tf.placeholder(tf.float32, value.shape)
                variables[name] = tf.Variable(start, name=name)
                initial[start] = value
            feeds = [
                tf.placeholder(part.dtype, [size, *part.shape[1:]]) for part in case.batches[0]
            ]
            loss = loss_of(tf, variables, feeds)
            train = optimizer.minimize(loss)
            init = tf.global_variables_initializer()
    session = tf.Session(place.target, graph=graph, config=config_of(tf, place))
    if place.index == 0:
        session.run(init, initial)
    batch = data.Cycle(case.batches)

    def step() -> float:
        return float(session.run([loss, train], dict(zip(feeds, batch())))[0])

    return Program(step, lambda: 0.0, session.close, False)


def _of_digits(logits: Callable[[Any, Dict[str, Any], Any], Any]) -> Loss:
    return lambda tf, variables, feeds: digit_loss(tf, feeds[1], logits(tf, variables, feeds[0]))


def job_softmax(tf: Any, place: Place) -> Program:
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    return _train(tf, place, data.softmax(), _of_digits(softmax_logits), optimizer)


def job_mlp(tf: Any, place: Place) -> Program:
    optimizer = tf.train.AdamOptimizer(1e-3)
    return _train(tf, place, data.mlp(), _of_digits(mlp_logits), optimizer)


def job_word2vec(tf: Any, place: Place) -> Program:
    case, optimizer = data.word2vec(), tf.train.GradientDescentOptimizer(1.0)
    return _train(tf, place, case, word_loss, optimizer, len(case.batches[0][0]))


CASES: Dict[str, Callable[[Any, Place], Program]] = {
    function.__name__: function for function in (job_softmax, job_mlp, job_word2vec)
}
