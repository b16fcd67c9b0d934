"""Programs of ``tf.contrib.model_pruning`` (``recorded``)."""

import os
import tempfile

import numpy as np

from tests.contrib.recorded import names, nodes, refused

VALUES = np.random.RandomState(2).uniform(-1, 1, [4, 6]).astype("float32")


def _wired(tf):
    return {
        op.name: " ".join([op.type] + [t.name for t in op.inputs]
                          + sorted("^" + c.name for c in op.control_inputs))
        for op in tf.get_default_graph().get_operations()
    }  # fmt: skip


def _collections(tf):
    found = tf.contrib.model_pruning
    return [names(made()) for made in (found.get_masked_weights, found.get_masks,
                                       found.get_thresholds, found.get_weights)]  # fmt: skip


def _everything(tf):
    keys = ("variables", "trainable_variables", "model_variables", "update_ops")
    return [_wired(tf), _collections(tf), [names(tf.get_collection(key)) for key in keys]]


def case_layers(tf):
    pruning, slim = tf.contrib.model_pruning, tf.contrib.slim
    x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
    y = pruning.masked_conv2d(x, 4, [3, 3], stride=2, scope="c1")
    y = pruning.masked_convolution(y, 4, 3, rate=2, normalizer_fn=slim.batch_norm,
                                   activation_fn=None)  # fmt: skip
    y = pruning.masked_fully_connected(slim.flatten(y), 3, scope="fc",
                                       weights_regularizer=slim.l2_regularizer(0.1),
                                       variables_collections=["mine"])  # fmt: skip
    pruning.masked_fully_connected(y, 3, activation_fn=None, biases_initializer=None)
    sparsity = names(pruning.get_weight_sparsity())
    losses = names(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    return [*_everything(tf), names(tf.get_collection("mine")), sparsity, losses]


def case_cells(tf):
    pruning = tf.contrib.model_pruning
    x = tf.zeros([2, 4])
    found = []
    cells = [
        pruning.MaskedBasicLSTMCell(3, name="one"),
        pruning.MaskedLSTMCell(3, use_peepholes=True, cell_clip=1.0, num_proj=3),
        pruning.MaskedLSTMCell(2, state_is_tuple=False, activation=tf.nn.relu),
    ]
    for cell in cells:
        y, _ = cell(x, cell.zero_state(2, tf.float32))
        found += [y.name, names(cell.trainable_weights), names(cell.weights)]
    wrong = pruning.MaskedLSTMCell(3, num_proj=2)
    found.append(refused(lambda: wrong(x, wrong.zero_state(2, tf.float32)), "must be equal"))
    return [found, *_everything(tf)]


def case_unrolled_cells(tf):
    pruning = tf.contrib.model_pruning
    cell = pruning.MaskedBasicLSTMCell(3)
    tf.nn.dynamic_rnn(cell, tf.zeros([2, 5, 4]), dtype=tf.float32)
    return [_collections(tf), names(tf.global_variables()), len(nodes(tf))]


def case_applied(tf):
    pruning = tf.contrib.model_pruning
    w = tf.get_variable("w", [4, 6])
    with tf.variable_scope("here"):
        v = tf.get_variable("v", [4, 6])
        masked = [pruning.apply_mask(w, "first"), pruning.apply_mask(v, "second")]
    with tf.variable_scope("here", reuse=True):
        masked.append(pruning.apply_mask(v, "second"))
    return [names(masked), *_everything(tf)]


def _pruned(tf, text, shape=(4, 6), conditional=True):
    """The graph of updates, and masks and thresholds over some steps."""
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", initializer=VALUES.reshape(shape))
        tf.contrib.model_pruning.apply_mask(w, scope="s")
        step = tf.train.get_or_create_global_step()
        hparams = tf.contrib.model_pruning.get_pruning_hparams().parse(text)
        pruning = tf.contrib.model_pruning.Pruning(hparams, global_step=step)
        update = pruning.conditional_mask_update_op() if conditional else pruning.mask_update_op()
        pruning.add_pruning_summaries()
        pruning.print_hparams()
        wired = _wired(tf)
        sess.run(tf.global_variables_initializer())
        found = []
        for count in (0, 5, 10, 30, 60, 120):
            sess.run([step.assign(count)])
            sess.run(update)
            found.append(sess.run(tf.get_collection("masks") + tf.get_collection("thresholds")))
        summaries = names(tf.get_collection(tf.GraphKeys.SUMMARIES))
        return [wired, update.name, found, summaries, names(tf.global_variables())]


def case_pruning(tf):
    return [
        _pruned(tf, "target_sparsity=0.8"),
        _pruned(tf, "block_height=2,block_width=3,threshold_decay=0.5", conditional=False),
        _pruned(tf, "weight_sparsity_map=[w:0.9],block_dims_map=[w:2x2],pruning_frequency=20,"
                "block_pooling_function=MAX,begin_pruning_step=10,end_pruning_step=60"),
        _pruned(tf, "initial_sparsity=0.2,sparsity_function_exponent=1,name=other", (2, 2, 6)),
        _pruned(tf, "block_height=3,block_width=4", (1, 4, 6)),
    ]  # fmt: skip


def case_hparams(tf):
    pruning = tf.contrib.model_pruning
    step = tf.train.get_or_create_global_step()

    def wrong(text, words):
        hparams = pruning.get_pruning_hparams().parse(text)
        return refused(lambda: pruning.Pruning(hparams, global_step=step), words)

    return [
        pruning.get_pruning_hparams().values(),
        wrong("begin_pruning_step=-1", "Illegal value for begin_pruning_step"),
        wrong("begin_pruning_step=5,end_pruning_step=4", "Pruning must begin before it can end."),
        wrong("sparsity_function_begin_step=-1", "Illegal value for sparsity_function_begin_step"),
        wrong("sparsity_function_begin_step=200", "Sparsity function requires begin_step < end_st"),
        wrong("threshold_decay=1.0", "threshold_decay must be in range [0,1)"),
        wrong("initial_sparsity=1.0", "initial_sparsity must be in range [0,1)"),
        wrong("target_sparsity=1.0", "target_sparsity must be in range [0,1)"),
        wrong("weight_sparsity_map=[a:1.5]", "Weight sparsity can not exceed 1.0"),
        wrong("block_dims_map=[a:1x2x3]", "Expected 2 values for block dim for a, got 1x2x3"),
    ]


def case_stripped(tf):
    pruning = tf.contrib.model_pruning
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2, 6], name="x")
        w = tf.get_variable("w", initializer=VALUES.T)
        tf.identity(tf.matmul(x, pruning.apply_mask(w, scope="s")), "y")
        sess.run(tf.global_variables_initializer())
        sess.run(tf.get_collection("masks")[0].assign((np.abs(VALUES.T) > 0.5).astype("float32")))
        tf.train.Saver().save(sess, os.path.join(folder, "model"))
    frozen = pruning.graph_def_from_checkpoint(folder, ["y"])
    stripped = pruning.strip_pruning_vars_fn(frozen, ["y"])
    found = [sorted([n.name, n.op] for n in graph.node) for graph in (frozen, stripped)]
    for graph in (frozen, stripped):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.import_graph_def(graph, name="")
            found.append(sess.run("y:0", {"x:0": np.ones([2, 6])}))
    return found + [refused(lambda: pruning.graph_def_from_checkpoint(tempfile.mkdtemp(), ["y"]))]


def case_trained(tf):
    pruning = tf.contrib.model_pruning
    x = tf.constant(np.random.RandomState(1).uniform(-1, 1, [8, 6]).astype("float32"))
    w = tf.get_variable("w", initializer=VALUES.T)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, pruning.apply_mask(w, scope="s")) - 1.0))
    tf.losses.add_loss(loss)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = tf.contrib.slim.learning.create_train_op(loss, optimizer)
    hparams = pruning.get_pruning_hparams().parse(
        "pruning_frequency=2,sparsity_function_end_step=8,target_sparsity=0.6")  # fmt: skip
    update = pruning.Pruning(hparams).conditional_mask_update_op()
    folder = tempfile.mkdtemp()
    try:
        pruning.train(train_op, folder, update, number_of_steps=10, log_every_n_steps=5)
    except TypeError:
        pass  # TensorFlow takes the loss for a pair when all is done
    reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(folder))
    return [reader.get_tensor("s/mask"), reader.get_tensor("w")]
