"""Recurrent networks to build in Penstock and in TensorFlow 1.15 (runs on Python 3.7 too).

A case builds a network and returns what to fetch; ``x`` and ``lengths`` make inputs that are fed.
``observe`` records its nodes, and runs it, and its gradients, with weights that depend on the
variables' names only.
"""

import zlib

import numpy as np


class Build:
    """What a case works with: the library, and placeholders with their values."""

    def __init__(self, tf):
        self.tf, self.feeds = tf, {}

    def _feed(self, dtype, shape, value, name):
        placeholder = self.tf.placeholder(dtype, shape, name=name)
        self.feeds[placeholder] = value
        return placeholder

    def x(self, *shape, **options):
        """A float placeholder; ``static`` is the shape it says it has."""
        rng = np.random.RandomState(len(self.feeds) + 7)
        value = rng.uniform(-1, 1, shape).astype(np.float32)
        return self._feed(self.tf.float32, options.get("static", shape), value, "x")

    def steps(self, count, *shape, **options):
        """A list of placeholders."""
        return [self.x(*shape, **options) for _ in range(count)]

    def lengths(self, *values, **options):
        """An int vector of sequence lengths."""
        dtype = options.get("dtype", self.tf.int32)
        shape = options.get("static", [len(values)])
        return self._feed(dtype, shape, np.array(values), "lengths")


CASES = {}
# Cases that draw random numbers: their nodes are compared, and not their values.
RANDOM = set()


def case(function):
    CASES[function.__name__] = function
    return function


def random_case(function):
    RANDOM.add(function.__name__)
    return case(function)


def _value(variable):
    """Values that depend on the name and the shape of a variable."""
    seed = zlib.crc32(variable.op.name.encode()) & 0x7FFFFFFF
    shape = variable.get_shape().as_list()
    return np.random.RandomState(seed).uniform(-0.7, 0.7, shape)


def _flat(structure):
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in _flat(structure[key])]
    if isinstance(structure, (list, tuple)):
        return [leaf for part in structure for leaf in _flat(part)]
    return [structure]


def nodes_of(graph):
    """(name, type, inputs, control inputs) of each node, in the order of their making."""
    return [
        (
            op.name,
            op.type,
            [t.name for t in op.inputs],
            sorted(c.name for c in op.control_inputs),
        )
        for op in graph.get_operations()
    ]


def observe(tf, case, run=True):
    """What a case, or the one of that name, gives: nodes, shapes, values, gradients."""
    build = Build(tf)
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        made = CASES[case](build) if isinstance(case, str) else case(build)
        fetches = [tf.convert_to_tensor(t) for t in _flat(made)]
        found = {
            "nodes": nodes_of(graph),
            "shapes": [str(t.get_shape()) for t in fetches],
            "variables": [(v.name, str(v.get_shape())) for v in tf.global_variables()],
            "trainable": [v.name for v in tf.trainable_variables()],
        }
        if not run or case in RANDOM:
            return found
        floats = [p for p in build.feeds if p.dtype.is_floating]
        variables = tf.trainable_variables()
        loss = tf.add_n(
            [tf.reduce_sum(tf.square(t) + 0.3 * t) for t in fetches if t.dtype.is_floating]
        )
        gradients = tf.gradients(loss, list(variables) + floats)
        kept = [g for g in gradients if g is not None]
        found["connected"] = [g is not None for g in gradients]
        found["gradient_nodes"] = sorted({n[0] for n in nodes_of(graph)})
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for variable in tf.global_variables():
                if variable.dtype.is_floating:
                    variable.load(_value(variable), sess)
            values, slopes = sess.run(
                [fetches, [tf.convert_to_tensor(g) for g in kept]], build.feeds
            )
        found["values"], found["gradients"] = values, slopes
    return found


# ---- one step of a cell ------------------------------------------------------------------------


def one_step(b, cell, depth=4):
    return cell(b.x(3, depth), cell.zero_state(3, b.tf.float32))


def two_steps(b, cell, depth=4):
    inputs = b.steps(2, 3, depth)
    return b.tf.nn.static_rnn(cell, inputs, dtype=b.tf.float32)


@case
def basic_rnn(b):
    return one_step(b, b.tf.nn.rnn_cell.BasicRNNCell(5))


@case
def basic_rnn_relu(b):
    return two_steps(b, b.tf.nn.rnn_cell.BasicRNNCell(5, activation=b.tf.nn.relu, name="mine"))


@case
def gru(b):
    return one_step(b, b.tf.nn.rnn_cell.GRUCell(5))


@case
def gru_initialized(b):
    tf = b.tf
    return two_steps(
        b,
        tf.nn.rnn_cell.GRUCell(
            5,
            activation=tf.sigmoid,
            kernel_initializer=tf.ones_initializer(),
            bias_initializer=tf.constant_initializer(0.5),
        ),
    )


@case
def basic_lstm(b):
    return one_step(b, b.tf.nn.rnn_cell.BasicLSTMCell(5))


@case
def basic_lstm_flat_state(b):
    return one_step(b, b.tf.nn.rnn_cell.BasicLSTMCell(5, 0.3, state_is_tuple=False))


@case
def lstm(b):
    return two_steps(b, b.tf.nn.rnn_cell.LSTMCell(5))


@case
def lstm_everything(b):
    return two_steps(
        b,
        b.tf.nn.rnn_cell.LSTMCell(
            5,
            use_peepholes=True,
            cell_clip=0.4,
            num_proj=3,
            proj_clip=0.3,
            initializer=b.tf.constant_initializer(0.1),
            forget_bias=0.2,
        ),
    )


@case
def lstm_flat_state_sharded(b):
    return two_steps(
        b,
        b.tf.nn.rnn_cell.LSTMCell(
            5, state_is_tuple=False, num_proj=3, num_unit_shards=2, num_proj_shards=1
        ),
    )


@case
def lstm_partitioned_scope(b):
    tf = b.tf
    with tf.variable_scope("model", partitioner=tf.fixed_size_partitioner(2)):
        return two_steps(b, tf.nn.rnn_cell.LSTMCell(4, num_proj=2))


@case
def multi(b):
    cells = b.tf.nn.rnn_cell
    return two_steps(b, cells.MultiRNNCell([cells.BasicLSTMCell(5), cells.GRUCell(6)]))


@case
def multi_flat_state(b):
    cells = b.tf.nn.rnn_cell
    return two_steps(
        b,
        cells.MultiRNNCell(
            [cells.BasicLSTMCell(5, state_is_tuple=False), cells.GRUCell(6)], state_is_tuple=False
        ),
    )


@case
def multione_step(b):
    cells = b.tf.nn.rnn_cell
    return one_step(b, cells.MultiRNNCell([cells.BasicRNNCell(5) for _ in range(3)]))


@case
def dropout_all_kept(b):
    cells = b.tf.nn.rnn_cell
    return two_steps(b, cells.DropoutWrapper(cells.BasicLSTMCell(5), 1.0, 1.0))


@random_case
def dropout(b):
    cells = b.tf.nn.rnn_cell
    return two_steps(b, cells.DropoutWrapper(cells.BasicLSTMCell(5), 0.5, 0.6, 0.7, seed=3))


@random_case
def dropout_fed(b):
    cells, keep = b.tf.nn.rnn_cell, b.tf.placeholder(b.tf.float32, [], name="keep")
    cell = cells.MultiRNNCell([cells.DropoutWrapper(cells.GRUCell(5), keep, output_keep_prob=keep)])
    return b.tf.nn.dynamic_rnn(cell, b.x(3, 6, 4), dtype=b.tf.float32)


@random_case
def dropout_variational(b):
    tf, cells = b.tf, b.tf.nn.rnn_cell
    cell = cells.DropoutWrapper(
        cells.BasicLSTMCell(5),
        0.5,
        0.6,
        0.7,
        seed=3,
        variational_recurrent=True,
        input_size=tf.TensorShape([4]),
        dtype=tf.float32,
    )
    return two_steps(b, cell)


@random_case
def dropout_filtered(b):
    tf, cells = b.tf, b.tf.nn.rnn_cell
    cell = cells.DropoutWrapper(
        cells.MultiRNNCell([cells.BasicLSTMCell(5), cells.GRUCell(3)]),
        state_keep_prob=0.5,
        dropout_state_filter_visitor=lambda state: not isinstance(state, tf.Tensor),
    )
    plain = cells.DropoutWrapper(
        cells.MultiRNNCell([cells.BasicLSTMCell(5), cells.GRUCell(3)]), state_keep_prob=0.5
    )
    with tf.variable_scope("first"):
        first = two_steps(b, cell)
    return first, two_steps(b, plain)


@case
def residual(b):
    cells = b.tf.nn.rnn_cell
    return two_steps(
        b, cells.MultiRNNCell([cells.ResidualWrapper(cells.BasicLSTMCell(4)) for _ in range(2)])
    )


@case
def residual_function(b):
    cells = b.tf.nn.rnn_cell
    return one_step(
        b, cells.ResidualWrapper(cells.BasicRNNCell(5), residual_fn=lambda i, o: o * 2.0)
    )


@case
def device(b):
    cells = b.tf.nn.rnn_cell
    return two_steps(b, cells.DeviceWrapper(cells.GRUCell(4), "/cpu:0"))


@case
def custom_cell(b):
    tf = b.tf

    class Mine(tf.nn.rnn_cell.RNNCell):
        output_size = state_size = 5

        def call(self, inputs, state):
            weights = tf.get_variable("w", [4, 5])
            made = tf.tanh(tf.matmul(inputs, weights) + state)
            return made, made

    return two_steps(b, Mine())


@case
def older_custom_cell(b):
    tf = b.tf

    class Older(tf.nn.rnn_cell.RNNCell):
        @property
        def output_size(self):
            return 5

        state_size = output_size

        def __call__(self, inputs, state, scope=None):
            with tf.variable_scope(scope or type(self).__name__):
                weights = tf.get_variable("w", [4, 5])
                made = tf.tanh(tf.matmul(inputs, weights) + state)
            return made, made

    with tf.variable_scope("outer"):
        return two_steps(b, Older())


@case
def shared_cell(b):
    cell = b.tf.nn.rnn_cell.GRUCell(4)
    state = cell.zero_state(3, b.tf.float32)
    out1, state = cell(b.x(3, 4), state)
    out2, state = cell(out1, state)
    return out1, out2, state


@case
def reused_scopes(b):
    tf = b.tf
    outs = []
    for index in range(2):
        with tf.variable_scope("model", reuse=index > 0 or None):
            outs.append(two_steps(b, tf.nn.rnn_cell.BasicLSTMCell(3)))
    outs.append(two_steps(b, tf.nn.rnn_cell.BasicLSTMCell(3, name="other", dtype=tf.float32)))
    return outs


@case
def auto_reuse(b):
    tf = b.tf
    outs = []
    for _ in range(2):
        with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
            outs.append(two_steps(b, tf.nn.rnn_cell.LSTMCell(3)))
    return outs


@case
def ptb_unrolled(b):
    """The loop that the PTB tutorial writes itself."""
    tf = b.tf
    cell = tf.nn.rnn_cell.MultiRNNCell(
        [tf.nn.rnn_cell.BasicLSTMCell(5, forget_bias=0.0) for _ in range(2)]
    )
    state = cell.zero_state(3, tf.float32)
    inputs, outputs = b.x(3, 4, 6), []
    with tf.variable_scope("RNN"):
        for step in range(4):
            if step > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(inputs[:, step, :], state)
            outputs.append(output)
    return tf.concat(outputs, 1), state


# ---- unrolled ------------------------------------------------------------------------------------


@case
def static_unknown_batch(b):
    inputs = b.steps(3, 2, 4, static=(None, 4))
    return b.tf.nn.static_rnn(b.tf.nn.rnn_cell.BasicLSTMCell(5), inputs, dtype=b.tf.float32)


@case
def static_given_state(b):
    cell = b.tf.nn.rnn_cell.BasicRNNCell(5)
    return b.tf.nn.static_rnn(cell, b.steps(2, 3, 4), initial_state=b.x(3, 5), scope="mine")


@case
def static_lengths(b):
    cell = b.tf.nn.rnn_cell.BasicLSTMCell(5)
    return b.tf.nn.static_rnn(
        cell, b.steps(5, 3, 4), sequence_length=b.lengths(4, 0, 2), dtype=b.tf.float32
    )


@case
def static_lengths_unknown_batch(b):
    cell = b.tf.nn.rnn_cell.GRUCell(5)
    return b.tf.nn.static_rnn(
        cell,
        b.steps(3, 3, 4, static=(None, 4)),
        dtype=b.tf.float32,
        sequence_length=b.lengths(3, 1, 2, dtype=b.tf.int64, static=[None]),
    )


@case
def static_saving(b):
    tf = b.tf

    class Saver:
        def state(self, name):
            return b.x(3, 5)

        def save_state(self, name, value):
            return tf.identity(value, name="save_" + name)

    cell = tf.nn.rnn_cell.BasicLSTMCell(5)
    return (
        tf.nn.static_state_saving_rnn(cell, b.steps(2, 3, 4), Saver(), ("c", "h")),
        tf.nn.static_state_saving_rnn(
            tf.nn.rnn_cell.BasicRNNCell(5), b.steps(2, 3, 4), Saver(), "s", scope="other"
        ),
    )


@case
def static_bidirectional(b):
    cells = b.tf.nn.rnn_cell
    return b.tf.nn.static_bidirectional_rnn(
        cells.BasicRNNCell(5), cells.GRUCell(6), b.steps(3, 2, 4), dtype=b.tf.float32
    )


@case
def static_bidirectional_lengths(b):
    cells = b.tf.nn.rnn_cell
    return b.tf.nn.static_bidirectional_rnn(
        cells.BasicRNNCell(5),
        cells.BasicRNNCell(6),
        b.steps(3, 2, 4),
        dtype=b.tf.float32,
        sequence_length=b.lengths(3, 1),
    )


# ---- in a loop -----------------------------------------------------------------------------------


@case
def dynamic(b):
    return b.tf.nn.dynamic_rnn(b.tf.nn.rnn_cell.BasicLSTMCell(5), b.x(3, 6, 4), dtype=b.tf.float32)


@case
def dynamic_open_shape(b):
    inputs = b.x(3, 6, 4, static=(None, None, 4))
    return b.tf.nn.dynamic_rnn(b.tf.nn.rnn_cell.GRUCell(5), inputs, dtype=b.tf.float32)


@case
def dynamic_lengths(b):
    return b.tf.nn.dynamic_rnn(
        b.tf.nn.rnn_cell.LSTMCell(5, num_proj=3, use_peepholes=True),
        b.x(4, 6, 4),
        sequence_length=b.lengths(4, 0, 5, 2),
        dtype=b.tf.float32,
    )


@case
def dynamic_lengths_open_shape(b):
    inputs = b.x(3, 6, 4, static=(None, None, 4))
    lengths = b.lengths(6, 1, 3, dtype=b.tf.int64, static=[None])
    return b.tf.nn.dynamic_rnn(
        b.tf.nn.rnn_cell.BasicLSTMCell(5), inputs, lengths, dtype=b.tf.float32
    )


@case
def dynamic_time_major(b):
    cell = b.tf.nn.rnn_cell.GRUCell(5)
    return b.tf.nn.dynamic_rnn(
        cell,
        b.x(6, 3, 4),
        b.lengths(2, 5, 6),
        initial_state=b.x(3, 5),
        time_major=True,
        parallel_iterations=4,
        swap_memory=True,
        scope="decoder",
    )


@case
def dynamic_multi(b):
    cells = b.tf.nn.rnn_cell
    cell = cells.MultiRNNCell([cells.BasicLSTMCell(5), cells.ResidualWrapper(cells.GRUCell(5))])
    return b.tf.nn.dynamic_rnn(cell, b.x(3, 6, 4), b.lengths(4, 6, 2), dtype=b.tf.float32)


@case
def bidirectional_dynamic(b):
    cells = b.tf.nn.rnn_cell
    return b.tf.nn.bidirectional_dynamic_rnn(
        cells.BasicRNNCell(5), cells.GRUCell(6), b.x(3, 6, 4), dtype=b.tf.float32
    )


@case
def bidirectional_dynamic_lengths(b):
    cells = b.tf.nn.rnn_cell
    return b.tf.nn.bidirectional_dynamic_rnn(
        cells.LSTMCell(5),
        cells.LSTMCell(5),
        b.x(6, 3, 4),
        b.lengths(3, 0, 5),
        dtype=b.tf.float32,
        time_major=True,
    )


@case
def raw(b):
    tf = b.tf
    inputs, lengths = b.x(6, 3, 4), b.lengths(5, 2, 6)
    array = tf.TensorArray(tf.float32, 6).unstack(inputs)
    cell = tf.nn.rnn_cell.LSTMCell(5)

    def loop_fn(time, output, state, loop_state):
        if output is None:
            state = cell.zero_state(3, tf.float32)
        finished = time >= lengths
        following = tf.cond(
            tf.reduce_all(finished), lambda: tf.zeros([3, 4]), lambda: array.read(time)
        )
        return finished, following, state, output, None

    outputs, state, _ = tf.nn.raw_rnn(cell, loop_fn)
    return outputs.stack(), state


@case
def raw_with_loop_state(b):
    tf = b.tf
    inputs, lengths = b.x(6, 3, 4), b.lengths(5, 2, 4)
    array = tf.TensorArray(tf.float32, 6).unstack(inputs)
    cell = tf.nn.rnn_cell.GRUCell(5)

    def loop_fn(time, output, state, loop_state):
        if output is None:
            state, emit, loop_state = cell.zero_state(3, tf.float32), tf.zeros([2]), tf.zeros([])
        else:
            emit, loop_state = output[:, :2], loop_state + tf.reduce_sum(output)
        return time >= lengths, array.read(tf.minimum(time, 5)), state, emit, loop_state

    outputs, state, total = tf.nn.raw_rnn(cell, loop_fn, scope="mine")
    return outputs.stack(), state, total
