"""The cluster's cases: what a worker builds, once as a TF1 program for Penstock and TensorFlow.

Remote cases: one variable on ``/job:ps``, a session on the worker's own server. A read moves the
whole variable to the worker, where one element of it is cut out and fetched: what the client
copies to NumPy is four bytes. An update adds a tensor that lies in a variable of the worker. The
scalar is read as users read it, ``session.run(v)``.

Null steps, after the OSDI 2016 paper: each worker reads all parameters from the parameter servers,
computes nothing, sends an update for all of them, and ``SyncReplicasOptimizer`` applies the average
of the workers' updates. Scalar: one float a ps. Dense: 100 MB in all. Sparse: 32 random rows of a
table of 1 GB, gathered on the ps that hold them, and their gradients.

Training steps, for ``cluster_prediction``: a network whose matrices lie on the ps, its gradients
computed by each worker on a batch it holds; asynchronous, synchronous, and with everything on one
worker, where a step is its computing and the update.

Every case keeps its state in a container of its own, so that it can be reset.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from benchmarks.cluster_program import Place, Program, config_of

MEGABYTE = 250_000  # float32 values in a million bytes
DENSE_VALUES = 100 * MEGABYTE
TABLE_WIDTH = 128
TABLE_ROWS = 250 * 1000 * 1000 // TABLE_WIDTH
SPARSE_ROWS = 32
LEARNING_RATE = 1e-3
TRAIN_UNITS = 512
TRAIN_LAYERS = 8
TRAIN_BATCH = 256
TRAIN_BYTES = 4 * TRAIN_LAYERS * TRAIN_UNITS * TRAIN_UNITS


def _remote(tf: Any, place: Place, values: int, update: bool) -> Program:
    worker = "/job:worker/task:%d" % place.index
    graph = tf.Graph()
    with graph.as_default(), graph.container(place.container):
        with tf.device("/job:ps/task:0"):
            shape = [values] if values else []
            remote = tf.get_variable("remote", shape, initializer=tf.zeros_initializer())
        with tf.device(worker):
            ones = tf.get_variable(
                "ones", shape, initializer=tf.ones_initializer(), trainable=False
            )
            element = tf.identity(remote) if values == 0 else remote[values // 2]
        with tf.device("/job:ps/task:0"):
            added = tf.assign_add(remote, ones)
        init = tf.global_variables_initializer()
    session = tf.Session(place.target, graph=graph, config=config_of(tf, place))
    session.run(init)
    fetch = added.op if update else (remote if values == 0 else element)

    def step() -> float:
        value = session.run(fetch)
        return 0.0 if value is None else float(value)

    return Program(step, lambda: float(session.run(element)), session.close, update)


def scalar_read(tf: Any, place: Place) -> Program:
    return _remote(tf, place, 0, False)


def scalar_update(tf: Any, place: Place) -> Program:
    return _remote(tf, place, 0, True)


def read_1mb(tf: Any, place: Place) -> Program:
    return _remote(tf, place, MEGABYTE, False)


def update_1mb(tf: Any, place: Place) -> Program:
    return _remote(tf, place, MEGABYTE, True)


def read_100mb(tf: Any, place: Place) -> Program:
    return _remote(tf, place, 100 * MEGABYTE, False)


def update_100mb(tf: Any, place: Place) -> Program:
    return _remote(tf, place, 100 * MEGABYTE, True)


# -- the null synchronous step

Pair = Tuple[Any, Any]


def _parts(total: int, ps: int) -> List[int]:
    """How many of ``total`` each ps holds."""
    return [total // ps + (index < total % ps) for index in range(ps)]


def _dense_pairs(tf: Any, place: Place, sizes: Sequence[int]) -> Tuple[List[Pair], Any]:
    """(update, variable) a ps, and what depends on the whole of every variable read."""
    pairs, read = [], []
    for index, size in enumerate(sizes):
        with tf.device("/job:ps/task:%d" % index):
            v = tf.get_variable("v%d" % index, [size], initializer=tf.zeros_initializer())
        read.append(v[size // 2])
        # The update lies on the worker, as a gradient that has been computed does.
        held = tf.get_variable(
            "update%d" % index,
            [size],
            initializer=tf.ones_initializer(),
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES],
        )
        pairs.append((held, v))
    total = tf.add_n(read)
    with tf.control_dependencies([total]):
        return [(tf.identity(held), v) for held, v in pairs], total


def _sparse_pairs(tf: Any, place: Place) -> Tuple[List[Pair], Any]:
    tables = []
    for index, rows in enumerate(_parts(TABLE_ROWS, place.ps)):
        with tf.device("/job:ps/task:%d" % index):
            shape = [rows, TABLE_WIDTH]
            tables.append(
                tf.get_variable("table%d" % index, shape, initializer=tf.zeros_initializer())
            )
    ids = tf.placeholder(tf.int32, [SPARSE_ROWS], name="ids")
    total = tf.reduce_sum(tf.nn.embedding_lookup(tables, ids, partition_strategy="mod"))
    return list(zip(tf.gradients(total, tables), tables)), total


def _feeds(graph: Any, place: Place) -> Callable[[], Optional[Dict[Any, np.ndarray]]]:
    try:
        ids = graph.get_tensor_by_name("ids:0")
    except KeyError:
        return lambda: None
    random = np.random.RandomState(place.index)
    return lambda: {ids: random.randint(0, TABLE_ROWS, SPARSE_ROWS).astype(np.int32)}


Pairs = Callable[[Any, Place], Tuple[List[Pair], Any]]


def _null_step(tf: Any, place: Place, pairs: Pairs) -> Program:
    graph = tf.Graph()
    with graph.as_default(), graph.container(place.container):
        with tf.device("/job:ps/task:0"):
            global_step = tf.train.get_or_create_global_step()
        with tf.device("/job:worker/task:%d" % place.index):
            updates, total = pairs(tf, place)
            optimizer = tf.train.GradientDescentOptimizer(LEARNING_RATE)
            return _run_synchronously(tf, place, graph, optimizer, updates, total, global_step)


def _run_synchronously(
    tf: Any,
    place: Place,
    graph: Any,
    optimizer: Any,
    updates: Sequence[Pair],
    fetch: Any,
    global_step: Any,
) -> Program:
    """The training step around SyncReplicasOptimizer, as its documentation has it."""
    chief = place.index == 0
    synchronous = tf.train.SyncReplicasOptimizer(
        optimizer, replicas_to_aggregate=place.workers, total_num_replicas=place.workers
    )
    train = synchronous.apply_gradients(updates, global_step=global_step)
    # Local variables are each worker's own, and named alike in all of them.
    first = synchronous.chief_init_op if chief else synchronous.local_step_init_op
    runner = synchronous.get_chief_queue_runner() if chief else None
    init, local = tf.global_variables_initializer(), tf.local_variables_initializer()
    session = tf.Session(place.target, graph=graph, config=config_of(tf, place))
    coordinator = tf.train.Coordinator()
    threads: List[threading.Thread] = []
    if chief:
        session.run(init)
    session.run(local)
    session.run(first)
    if runner is not None:
        threads = runner.create_threads(session, coordinator, daemon=True, start=True)
    feeds = _feeds(graph, place)

    def step() -> float:
        return float(session.run([fetch, train], feeds())[0])

    def close() -> None:
        coordinator.request_stop()
        session.close()  # the chief's thread waits for gradients: this ends its wait
        for thread in threads:
            thread.join(10.0)

    return Program(step, lambda: float(session.run(global_step)), close)


def null_scalar(tf: Any, place: Place) -> Program:
    return _null_step(tf, place, lambda tf, place: _dense_pairs(tf, place, [1] * place.ps))


def null_dense(tf: Any, place: Place) -> Program:
    sizes = _parts(DENSE_VALUES, place.ps)
    return _null_step(tf, place, lambda tf, place: _dense_pairs(tf, place, sizes))


def null_sparse(tf: Any, place: Place) -> Program:
    return _null_step(tf, place, _sparse_pairs)


# -- a training step, to compare with what the simulator predicts


def _loss(tf: Any, place: Place, layers: int, home: Callable[[int], str]) -> Any:
    """A network of square layers on a batch that the worker holds."""
    hidden = tf.get_variable(
        "batch%d" % place.index,
        [TRAIN_BATCH, TRAIN_UNITS],
        initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=place.index),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
    )
    for layer in range(layers):
        with tf.device(home(layer)):
            initializer = tf.random_uniform_initializer(-0.1, 0.1, seed=layer)
            shape = [TRAIN_UNITS, TRAIN_UNITS]
            weights = tf.get_variable("w%d" % layer, shape, initializer=initializer)
        hidden = tf.tanh(tf.matmul(hidden, weights))
    return tf.reduce_mean(tf.square(hidden))


def _train(tf: Any, place: Place, mode: str) -> Program:
    worker = "/job:worker/task:%d" % place.index
    graph = tf.Graph()
    with graph.as_default(), graph.container(place.container):
        with tf.device(worker if mode == "local" else "/job:ps/task:0"):
            global_step = tf.train.get_or_create_global_step()
        with tf.device(worker):
            loss = _loss(
                tf,
                place,
                TRAIN_LAYERS,
                lambda layer: worker if mode == "local" else "/job:ps/task:%d" % (layer % place.ps),
            )
            optimizer = tf.train.GradientDescentOptimizer(LEARNING_RATE)
            if mode == "sync":
                return _synchronous(tf, place, graph, optimizer, loss, global_step)
            train = optimizer.minimize(loss, global_step=global_step)
        init = tf.global_variables_initializer()
        local = tf.local_variables_initializer()
    session = tf.Session(place.target, graph=graph, config=config_of(tf, place))
    if place.index == 0 or mode == "local":
        session.run(init)
    session.run(local)

    def step() -> float:
        return float(session.run([loss, train])[0])

    return Program(step, lambda: float(session.run(global_step)), session.close, False)


def _synchronous(
    tf: Any, place: Place, graph: Any, optimizer: Any, loss: Any, global_step: Any
) -> Program:
    gradients = optimizer.compute_gradients(loss)
    return _run_synchronously(tf, place, graph, optimizer, gradients, loss, global_step)


def train_async(tf: Any, place: Place) -> Program:
    return _train(tf, place, "async")


def train_sync(tf: Any, place: Place) -> Program:
    return _train(tf, place, "sync")


def train_local(tf: Any, place: Place) -> Program:
    return _train(tf, place, "local")


CASES: Dict[str, Callable[[Any, Place], Program]] = {
    function.__name__: function
    for function in (
        scalar_read,
        scalar_update,
        read_1mb,
        update_1mb,
        read_100mb,
        update_100mb,
        null_scalar,
        null_dense,
        null_sparse,
        train_async,
        train_sync,
        train_local,
    )
}
