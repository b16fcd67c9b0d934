"""Programs of ``tf.contrib.cudnn_rnn`` (``recorded``): graphs, since 1.15 cannot run them on a CPU.

What the layers compute is held against the cells in ``test_cudnn_rnn``; the cells are run here.
"""

import numpy as np

from tests.contrib.recorded import names, refused


def wired(tf):
    """Name, type, inputs, control inputs, device and static shapes of every node.

    TensorFlow's kernels of flat parameters are for GPUs alone, which its nodes ask for.
    """
    return [
        [
            op.name, op.type, [t.name for t in op.inputs], [c.name for c in op.control_inputs],
            op.device.replace("/device:GPU:0", ""), [s.as_list() if s.ndims is not None else None
                        for s in (t.shape for t in op.outputs)],
        ]
        for op in tf.get_default_graph().get_operations()
    ]  # fmt: skip


def _trained(tf, layer, size=4, **kwargs):
    inputs = tf.placeholder(tf.float32, [5, 2, size])
    outputs, states = layer(inputs, **kwargs)
    tf.gradients(tf.reduce_sum(outputs), [inputs, layer.kernel])
    return [[t.name for t in (outputs, *states)], names(layer.variables), wired(tf)]


def case_lstm(tf):
    layer = tf.contrib.cudnn_rnn.CudnnLSTM(2, 3)
    found = _trained(tf, layer)
    tf.train.Saver()
    return [*found, wired(tf)]


def case_bidirectional(tf):
    layer = tf.contrib.cudnn_rnn.CudnnLSTM(
        2, 3, direction="bidirectional", dropout=0.3, seed=7, name="own")  # fmt: skip
    found = _trained(tf, layer, sequence_lengths=[5, 3], initial_state=(tf.zeros([4, 2, 3]),) * 2)
    call = tf.get_default_graph().get_operation_by_name("own/CudnnRNNV3")
    kept = ("dropout", "seed2", "direction", "rnn_mode", "is_training", "time_major", "num_proj")
    return [*found, [call.get_attr(name) for name in kept]]


def case_gru(tf):
    with tf.variable_scope("outer"):
        layer = tf.contrib.cudnn_rnn.CudnnGRU(1, 3, direction="bidirectional")
        found = _trained(tf, layer, time_major=False, initial_state=(tf.zeros([5, 2, 3]),))
    tf.train.Saver()
    return [*found, wired(tf), layer.name, layer.scope_name]


def case_simple(tf):
    cudnn_rnn = tf.contrib.cudnn_rnn
    found = _trained(tf, cudnn_rnn.CudnnRNNTanh(2, 3), training=True)
    layer = cudnn_rnn.CudnnRNNRelu(1, 3)
    layer(tf.zeros([5, 2, 4]), training=False)
    layer(tf.zeros([7, 2, 4]))
    tf.train.Saver()
    return [*found, wired(tf), names(layer.trainable_weights)]


def case_of_a_layer(tf):
    cudnn_rnn = tf.contrib.cudnn_rnn
    found = []
    for made in (
        cudnn_rnn.CudnnLSTM(2, 3, direction="bidirectional"),
        cudnn_rnn.CudnnGRU(2, 3),
        cudnn_rnn.CudnnRNNTanh(1, 3, input_mode="auto_select"),
        cudnn_rnn.CudnnRNNRelu(1, 3),
    ):
        found.append(made.saveable)
        made(tf.zeros([5, 2, 4]))
        found += [made.num_layers, made.num_units, made.input_size, made.rnn_mode,
                  made.input_mode, made.direction, made.num_dirs, made.canonical_weight_shapes,
                  made.canonical_bias_shapes, made.state_shape(7), made.name]  # fmt: skip
        saveable = made.saveable
        found += [saveable.name, [[spec.name, spec.slice_spec] for spec in saveable.specs]]
    return found


def case_saveable(tf):
    cudnn_rnn = tf.contrib.cudnn_rnn
    found = []
    for cls in (cudnn_rnn.CudnnLSTMSaveable, cudnn_rnn.CudnnGRUSaveable,
                cudnn_rnn.CudnnRNNTanhSaveable, cudnn_rnn.CudnnRNNReluSaveable):  # fmt: skip
        flat = tf.Variable(tf.zeros([500]), name="flat")
        with tf.variable_scope("here"):
            saveable = cls(flat, 2, 3, 4, direction="bidirectional")
        found += [saveable.name, [spec.name for spec in saveable.specs]]
        found.append(type(saveable.format_converter).__name__)
    return [*found, wired(tf)]


def case_converters(tf):
    cudnn_rnn = tf.contrib.cudnn_rnn
    for cls in (cudnn_rnn.CudnnParamsFormatConverterLSTM, cudnn_rnn.CudnnParamsFormatConverterGRU,
                cudnn_rnn.CudnnParamsFormatConverterTanh,
                cudnn_rnn.CudnnParamsFormatConverterRelu):  # fmt: skip
        converter = cls(2, 3, 4, direction="bidirectional")
        weights, biases = converter.opaque_to_tf_canonical(tf.zeros([500]))
        converter.tf_canonical_to_opaque(weights + biases)
    converter = cudnn_rnn.CudnnParamsFormatConverterLSTM(2, 4, 3, num_proj=2)
    weights, biases, projections = converter.opaque_to_tf_canonical(tf.zeros([500]))
    converter.tf_canonical_to_opaque(weights + biases, projections)
    return wired(tf)


def case_cells(tf):
    """Networks of cells whose variables a checkpoint of ``CudnnLSTM`` and kin has."""
    found = []
    random = np.random.RandomState(1)
    x = tf.constant(random.uniform(-1, 1, [5, 2, 4]).astype("float32"))
    cudnn_rnn = tf.contrib.cudnn_rnn
    for cls in (cudnn_rnn.CudnnCompatibleLSTMCell, cudnn_rnn.CudnnCompatibleGRUCell):
        with tf.variable_scope(cls.__name__):
            stack = tf.nn.rnn_cell.MultiRNNCell([cls(3), cls(3)])
            outputs, _ = tf.nn.dynamic_rnn(stack, x, dtype=tf.float32, time_major=True)
            both, _, _ = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
                [cls(3)], [cls(3)], x, dtype=tf.float32, time_major=True)  # fmt: skip
            found += [outputs, both]
    variables = tf.trainable_variables()
    for variable in variables:
        value = random.uniform(-1, 1, variable.shape.as_list()).astype("float32")
        found.append(tf.assign(variable, value))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(found[4:])
        return [names(variables), sess.run(found[:4]),
                sess.run(tf.gradients(found[:4], variables))]  # fmt: skip


def case_refused(tf):
    cudnn_rnn = tf.contrib.cudnn_rnn
    lstm, x = cudnn_rnn.CudnnLSTM, tf.zeros([2, 3, 4])
    untrained = lstm(1, 2)(x, training=False)[0]
    return [
        refused(lambda: lstm(1, 2, direction="both"), "Invalid direction: both"),
        refused(lambda: lstm(1, 2, input_mode="no"), "Invalid input_mode: no"),
        refused(lambda: lstm(1, 2, dtype=tf.int32), "Only support float16, float32, float64"),
        refused(lambda: lstm(1, 2).canonical_weight_shapes, "invoked before input shape is known"),
        refused(lambda: lstm(1, 2).canonical_bias_shapes, "invoked before input shape is known"),
        refused(lambda: lstm(1, 2).input_size, "'input_size' is unknown since layer has not"),
        refused(lambda: lstm(1, 2)(tf.zeros([2, 3])), "Expecting input_shape with 3 dims, got 2"),
        refused(lambda: lstm(1, 2)(tf.placeholder(tf.float32, [2, 3, None])), "The last dimension"),
        refused(lambda: tf.gradients(untrained, x), "is_training must be set to True"),
    ]
