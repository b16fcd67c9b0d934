"""Programs of which Penstock and TensorFlow 1.15 must build the same graph; ``python programs.py``
prints TensorFlow's as JSON."""

import json
import sys


def mirrored(tf):
    """Two replicas, Adam, a global step, a reduced loss."""
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
        step = tf.train.get_or_create_global_step()
        opt = tf.train.AdamOptimizer(0.1)

        def replica():
            loss = tf.reduce_sum(w * w)
            with tf.control_dependencies([opt.minimize(loss, global_step=step)]):
                return tf.identity(loss)

        losses = strategy.experimental_run_v2(replica)
        strategy.reduce(tf.distribute.ReduceOp.MEAN, losses)


def mirrored_layers(tf):
    """Variables made by the replicas, in scopes; momentum without a global step; all_reduce."""
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():

        def replica():
            with tf.variable_scope("layer"):
                w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
            b = tf.Variable([0.0, 0.0], name="b")
            x = tf.ones([4, 3], name="x")
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b))
            return tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

        train = strategy.experimental_run_v2(replica)
        strategy.group(strategy.experimental_local_results(train), name="train")


def synchronized(tf):
    """SyncReplicasOptimizer: dense and sparse gradients, averages, one backup worker."""
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    table = tf.get_variable("table", [5, 2], initializer=tf.zeros_initializer())
    with tf.name_scope("loss"):
        loss = tf.reduce_sum(w * tf.nn.embedding_lookup(table, [1, 2]))
    opt = tf.train.SyncReplicasOptimizer(
        tf.train.MomentumOptimizer(0.1, 0.9), replicas_to_aggregate=2, total_num_replicas=3
    )
    opt.minimize(loss, global_step=step)
    opt.get_init_tokens_op()
    opt.get_init_tokens_op(num_tokens=0)


PROGRAMS = [mirrored, mirrored_layers, synchronized]


def nodes(tf, program):
    """The nodes of a program's graph: name, op type, inputs, control inputs, device."""
    graph = tf.Graph()
    with graph.as_default():
        program(tf)
    rows = [
        [
            op.name, op.type, [t.name for t in op.inputs], [c.name for c in op.control_inputs],
            op.device,
        ]
        for op in graph.get_operations()
    ]  # fmt: skip
    keys = ("variables", "trainable_variables", "local_variables", "queue_runners", "train_op")
    held = {key: [v.name.split(":")[0] for v in graph.get_collection(key)] for key in keys}
    return {"nodes": rows, "collections": held}


if __name__ == "__main__":
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    json.dump({program.__name__: nodes(tf, program) for program in PROGRAMS}, sys.stdout)
