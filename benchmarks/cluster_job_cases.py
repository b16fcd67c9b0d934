"""Training by a small job on one machine: parameters on the ps, batches on the workers.

The networks, initial values and batches of ``graph_cases``: MNIST softmax regression by gradient
descent and the 784-512-512-10 perceptron by Adam. Variables are dealt out by
``replica_device_setter``; each worker feeds its batch, and trains without waiting for the others.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

from benchmarks import data
from benchmarks.cluster_program import Place, Program, config_of
from benchmarks.graph_cases import digit_loss, mlp_logits, softmax_logits

Logits = Callable[[Any, Dict[str, Any], Any], Any]


def _train(tf: Any, place: Place, case: data.CaseData, logits: Logits, optimizer: Any) -> Program:
    worker = "/job:worker/task:%d" % place.index
    graph = tf.Graph()
    with graph.as_default(), graph.container(place.container):
        with tf.device(tf.train.replica_device_setter(place.ps, worker_device=worker)):
            initial, variables = {}, {}
            for name, value in case.parameters.items():
                start = tf.placeholder(tf.float32, value.shape)
                variables[name] = tf.Variable(start, name=name)
                initial[start] = value
            x = tf.placeholder(tf.float32, [None, 784])
            y = tf.placeholder(tf.float32, [None, 10])
            loss = digit_loss(tf, y, logits(tf, variables, x))
            train = optimizer.minimize(loss)
            init = tf.global_variables_initializer()
    session = tf.Session(place.target, graph=graph, config=config_of(tf, place))
    if place.index == 0:
        session.run(init, initial)
    batch = data.Cycle(case.batches)

    def step() -> float:
        return float(session.run([loss, train], dict(zip((x, y), batch())))[0])

    return Program(step, lambda: 0.0, session.close, False)


def job_softmax(tf: Any, place: Place) -> Program:
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    return _train(tf, place, data.softmax(), softmax_logits, optimizer)


def job_mlp(tf: Any, place: Place) -> Program:
    return _train(tf, place, data.mlp(), mlp_logits, tf.train.AdamOptimizer(1e-3))


CASES: Dict[str, Callable[[Any, Place], Program]] = {
    function.__name__: function for function in (job_softmax, job_mlp)
}
