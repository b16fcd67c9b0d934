"""Training programs written once for Penstock and for TensorFlow 1.15 (Python 3.7).

Each takes the ``tf`` module.  A program has a dense variable ``W``, reached through a product, and
a table ``E``, reached through a gather with repeated indices, so both kinds of gradients occur.
"""

import numpy as np

STEPS = 10
TABLE_ROWS = 7
INDICES = [4, 1, 4, 5]


def optimizers(tf):
    """Name of the case to a function of the global step that makes the optimizer."""
    t = tf.train
    return {
        "sgd": lambda step: t.GradientDescentOptimizer(0.1),
        "sgd_locking": lambda step: t.GradientDescentOptimizer(0.1, use_locking=True),
        "momentum": lambda step: t.MomentumOptimizer(0.05, 0.9),
        "nesterov": lambda step: t.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
        "adagrad": lambda step: t.AdagradOptimizer(0.3),
        "adagrad_da": lambda step: t.AdagradDAOptimizer(
            0.3, step, l1_regularization_strength=0.01, l2_regularization_strength=0.02
        ),
        "adadelta": lambda step: t.AdadeltaOptimizer(1.0, 0.9, 1e-4),
        "rmsprop": lambda step: t.RMSPropOptimizer(0.02, 0.8, 0.5, 1e-6),
        "centered": lambda step: t.RMSPropOptimizer(0.02, 0.8, 0.5, 1e-3, centered=True),
        "adam": lambda step: t.AdamOptimizer(0.05, 0.8, 0.95),
        "ftrl": lambda step: t.FtrlOptimizer(
            0.3, l1_regularization_strength=0.02, l2_regularization_strength=0.01
        ),
        "ftrl_shrinkage": lambda step: t.FtrlOptimizer(
            0.3, -0.4, l2_shrinkage_regularization_strength=0.05
        ),
        "proximal_sgd": lambda step: t.ProximalGradientDescentOptimizer(0.1, 0.02, 0.03),
        "proximal_adagrad": lambda step: t.ProximalAdagradOptimizer(0.3, 0.1, 0.02, 0.03),
    }


def start(seed, *shape):
    """Reproducible values that do not depend on the version of NumPy."""
    size = int(np.prod(shape))
    values = [((seed * 7919 + i * 104729) % 2003) / 1001.5 - 1.0 for i in range(size)]
    return np.array(values, np.float32).reshape(shape)


def model(tf, use_resource):
    """Returns loss, W, E and the placeholder that the gradients depend on."""
    scale = tf.placeholder(tf.float32, [], name="scale")
    dense = tf.Variable(start(1, 3, 2), name="W", use_resource=use_resource)
    table = tf.Variable(start(2, TABLE_ROWS, 3), name="E", use_resource=use_resource)
    rows = tf.gather(table, INDICES, name="rows")
    outputs = tf.matmul(rows, dense, name="outputs")
    loss = tf.reduce_sum(tf.square(outputs - scale), name="loss")
    return loss, dense, table, scale


def train(tf, case, use_resource):
    """Returns the values of all variables after ten steps, by name."""
    with tf.Graph().as_default():
        loss, _, _, scale = model(tf, use_resource)
        step = tf.train.create_global_step()
        update = optimizers(tf)[case](step).minimize(loss, global_step=step)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for number in range(STEPS):
                session.run(update, {scale: 0.5 + 0.1 * number})
            variables = tf.global_variables()
            values = session.run(variables)
            return {v.op.name: np.asarray(x).tolist() for v, x in zip(variables, values)}


def nodes(tf, case, use_resource, counted):
    """Returns the nodes that follow the gradients in a training program; see ``listing``."""
    with tf.Graph().as_default() as graph:
        loss, _, _, _ = model(tf, use_resource)
        needs_step = case == "adagrad_da"
        step = tf.train.create_global_step() if counted or needs_step else None
        optimizers(tf)[case](step).minimize(loss, global_step=step if counted else None)
        lines = listing(graph)
        last = max(i for i, line in enumerate(lines) if line.startswith("gradients/"))
        return lines[last + 1 :]


def listing(graph):
    """One line a node: name, type, inputs, control inputs (sorted, marked by a caret)."""
    lines = []
    for op in graph.get_operations():
        inputs = [t.name for t in op.inputs]
        inputs += sorted("^" + c.name for c in op.control_inputs)
        lines.append(op.name + " = " + op.type + "(" + ", ".join(inputs) + ")")
    return lines


def averages(tf, use_resource):
    """An ExponentialMovingAverage of a variable and of a tensor; returns (graph lines, values)."""
    with tf.Graph().as_default() as graph:
        var = tf.Variable([1.0, 2.0], name="v", use_resource=use_resource)
        tensor = tf.multiply(tf.convert_to_tensor(var), 2.0, name="twice")
        updates = tf.Variable(0, trainable=False, name="updates", use_resource=use_resource)
        ema = tf.train.ExponentialMovingAverage(0.9, num_updates=updates)
        debiased = tf.train.ExponentialMovingAverage(0.8, zero_debias=True, name="Debiased")
        both = [ema.apply([var, tensor]), debiased.apply([tensor])]
        change = tf.assign_add(var, [1.0, -1.0], name="change")
        count = tf.assign_add(updates, 1, name="count")
        variables = tf.global_variables()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(4):
                session.run(both)
                session.run(change)
                session.run(count)
            values = session.run(variables)
        return listing(graph), {
            v.op.name: np.asarray(x).tolist() for v, x in zip(variables, values)
        }


def schedules(tf):
    """Name of a schedule to a function of the global step."""
    t = tf.train
    return {
        "exponential": lambda s: t.exponential_decay(0.1, s, 10, 0.9),
        "staircase": lambda s: t.exponential_decay(0.1, s, 10, 0.9, staircase=True),
        "natural_exp": lambda s: t.natural_exp_decay(0.1, s, 10, 0.5),
        "inverse_time": lambda s: t.inverse_time_decay(0.1, s, 10, 0.5, staircase=True),
        "piecewise": lambda s: t.piecewise_constant(s, [5, 12, 30], [1.0, 0.5, 0.2, 0.1]),
        "polynomial": lambda s: t.polynomial_decay(0.1, s, 20, 0.01, 2.0),
        "cycle": lambda s: t.polynomial_decay(0.1, s, 20, 0.01, 0.5, cycle=True),
        "cosine": lambda s: t.cosine_decay(0.1, s, 30, 0.1),
        "restarts": lambda s: t.cosine_decay_restarts(0.1, s, 10, 2.0, 0.9, 0.1),
        "even_restarts": lambda s: t.cosine_decay_restarts(0.1, s, 10, 1.0, 0.9, 0.1),
        "linear_cosine": lambda s: t.linear_cosine_decay(0.1, s, 30),
        "noisy": lambda s: t.noisy_linear_cosine_decay(0.1, s, 30, initial_variance=0.0),
    }


SCHEDULE_STEPS = [0, 1, 5, 6, 10, 12, 13, 29, 30, 31, 75]


def schedule_values(tf, name):
    """The rate at ``SCHEDULE_STEPS``."""
    with tf.Graph().as_default():
        step = tf.placeholder(tf.int64, [], name="step")
        rate = schedules(tf)[name](step)
        with tf.Session() as session:
            return [float(session.run(rate, {step: s})) for s in SCHEDULE_STEPS]


def schedule_nodes(tf, name):
    """The nodes of a schedule, and the name of its result."""
    with tf.Graph().as_default() as graph:
        step = tf.placeholder(tf.int64, [], name="step")
        rate = schedules(tf)[name](step)
        return [*listing(graph), rate.name]
