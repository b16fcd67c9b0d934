"""Input pipelines written once for Penstock and for TensorFlow 1.15 (Python 3.7).

Each function of ``GRAPHS`` takes the ``tf`` module and adds to the default graph; ``describe`` says
what came of it, a line a node and a line an item of a collection.
"""

# Python 3.7 of TensorFlow 1.15 runs this too; closures are called at once.
# ruff: noqa: UP031


def _batch_of_two(tf, **kwargs):
    x = tf.constant([1.0, 2.0], name="x")
    y = tf.constant(3, name="y")
    return tf.train.batch([x, y], 4, **kwargs)


def _join_lists(tf):
    return [[tf.constant(float(i)), tf.constant([i, i])] for i in range(3)]


def _reading(tf, reader):
    names = tf.train.string_input_producer(["a", "b"])
    reader.read(names)
    reader.read_up_to(names, 3)
    reader.num_records_produced()
    reader.num_work_units_completed()
    reader.serialize_state()
    reader.restore_state("state")
    reader.reset()


def _named_queue_runner(tf):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]], name="mine")
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1)] * 3)
    tf.train.add_queue_runner(runner)


def _sparse(tf):
    return tf.SparseTensor([[0, 1]], [2.0], [3, 4])


def _features(tf):
    return {
        "sparse": tf.VarLenFeature(tf.int64),
        "fixed": tf.FixedLenFeature([2], tf.float32),
        "defaulted": tf.FixedLenFeature([], tf.string, default_value="none"),
        "vector": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
    }


def _context(tf):
    return {
        "length": tf.FixedLenFeature([], tf.int64),
        "name": tf.FixedLenFeature([], tf.string, default_value="x"),
        "extra": tf.VarLenFeature(tf.float32),
    }


def _sequences(tf):
    return {
        "tokens": tf.FixedLenSequenceFeature([], tf.int64),
        "rows": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
        "ragged": tf.VarLenFeature(tf.string),
    }


GRAPHS = {
    "string_input": lambda tf: tf.train.string_input_producer(["a", "b"]),
    "string_input_tensor": lambda tf: tf.train.string_input_producer(
        tf.placeholder(tf.string, [None]), num_epochs=2, shuffle=False, capacity=5, name="files"
    ),
    "string_input_seed": lambda tf: tf.train.string_input_producer(
        ["a"], num_epochs=3, seed=7, shared_name="shared"
    ),
    "range_input": lambda tf: tf.train.range_input_producer(10, shuffle=False),
    "range_input_epochs": lambda tf: tf.train.range_input_producer(10, num_epochs=1, name="r"),
    "slice_input": lambda tf: tf.train.slice_input_producer(
        [[1, 2, 3], tf.constant([[1.0], [2.0], [3.0]])], num_epochs=2
    ),
    "slice_input_plain": lambda tf: tf.train.slice_input_producer(
        [["a", "b"]], shuffle=False, name="slices", capacity=3
    ),
    "input_producer": lambda tf: tf.train.input_producer(
        tf.placeholder(tf.float32), element_shape=[2], num_epochs=2, summary_name="fill"
    ),
    "input_producer_cancel": lambda tf: tf.train.input_producer(
        tf.constant([[1, 2], [3, 4]]), shuffle=False, cancel_op=tf.no_op(name="cancel")
    ),
    "limit_epochs": lambda tf: tf.train.limit_epochs(tf.constant([1.0]), 3),
    "limit_epochs_none": lambda tf: tf.train.limit_epochs(tf.constant([1.0])),
    "match_filenames_once": lambda tf: tf.train.match_filenames_once("/nowhere/*"),
    "batch": _batch_of_two,
    "batch_threads": lambda tf: _batch_of_two(tf, num_threads=3, capacity=10, name="mine"),
    "batch_smaller": lambda tf: _batch_of_two(tf, allow_smaller_final_batch=True),
    "batch_shared": lambda tf: _batch_of_two(tf, shared_name="shared", num_threads=2),
    "batch_single_list": lambda tf: tf.train.batch([tf.constant([1, 2])], 2),
    "batch_dict": lambda tf: tf.train.batch(
        {"b": tf.constant(1), "a": tf.constant([2.0])}, 2, name="named"
    ),
    "batch_many": lambda tf: tf.train.batch(
        [tf.constant([1, 2, 3]), tf.constant([[1.0], [2.0], [3.0]])], 2, enqueue_many=True
    ),
    "batch_pad": lambda tf: tf.train.batch(
        [tf.placeholder(tf.int32, [None]), tf.constant(1)], 2, dynamic_pad=True
    ),
    "batch_shapes": lambda tf: tf.train.batch(
        [tf.placeholder(tf.int32), tf.constant(1)], 2, shapes=[[3], []]
    ),
    "batch_size_tensor": lambda tf: tf.train.batch([tf.constant(1)], tf.placeholder(tf.int32, [])),
    "batch_sparse": lambda tf: tf.train.batch([_sparse(tf), tf.constant(1)], 2),
    "batch_sparse_dict": lambda tf: tf.train.batch({"s": _sparse(tf)}, 2, enqueue_many=True),
    "batch_join": lambda tf: tf.train.batch_join(_join_lists(tf), 2),
    "batch_join_named": lambda tf: tf.train.batch_join(
        _join_lists(tf), 2, allow_smaller_final_batch=True, name="joined", capacity=5
    ),
    "batch_join_many": lambda tf: tf.train.batch_join(
        [[tf.constant([1, 2])], [tf.constant([3, 4, 5])]], 2, enqueue_many=True
    ),
    "batch_join_dicts": lambda tf: tf.train.batch_join(
        [{"a": tf.constant(1), "b": tf.constant(2)}, {"a": tf.constant(3), "b": tf.constant(4)}], 2
    ),
    "batch_join_sparse": lambda tf: tf.train.batch_join([[_sparse(tf)], [_sparse(tf)]], 2),
    "shuffle_batch": lambda tf: tf.train.shuffle_batch(
        [tf.constant([1.0, 2.0]), tf.constant(1)], 4, capacity=50, min_after_dequeue=10
    ),
    "shuffle_batch_seed": lambda tf: tf.train.shuffle_batch(
        [tf.constant([1.0, 2.0])],
        4,
        50,
        10,
        num_threads=2,
        seed=3,
        allow_smaller_final_batch=True,
        name="mine",
    ),
    "shuffle_batch_many": lambda tf: tf.train.shuffle_batch(
        {"x": tf.constant([1, 2, 3])}, 4, 50, 10, enqueue_many=True, shared_name="shared"
    ),
    "shuffle_batch_join": lambda tf: tf.train.shuffle_batch_join(
        _join_lists(tf), 2, capacity=20, min_after_dequeue=5
    ),
    "shuffle_batch_join_smaller": lambda tf: tf.train.shuffle_batch_join(
        _join_lists(tf), 2, 20, 5, seed=9, allow_smaller_final_batch=True, name="mine"
    ),
    "batch_sparse_only": lambda tf: tf.train.batch([_sparse(tf)], 2, dynamic_pad=False),
    "batch_sparse_smaller": lambda tf: tf.train.batch(
        {"s": _sparse(tf), "d": tf.constant([1, 2, 3])},
        2,
        enqueue_many=True,
        allow_smaller_final_batch=True,
    ),
    "batch_sparse_unknown_rank": lambda tf: tf.train.batch(
        [
            tf.SparseTensor(
                tf.placeholder(tf.int64), tf.placeholder(tf.float32), tf.placeholder(tf.int64)
            ),
            tf.constant(1),
        ],
        2,
    ),
    "batch_join_sparse_mixed": lambda tf: tf.train.batch_join(
        [[_sparse(tf), tf.constant(1)], [_sparse(tf), tf.constant(2)]], 2
    ),
    "shuffle_batch_sparse": lambda tf: tf.train.shuffle_batch(
        [tf.constant(1), _sparse(tf)], 2, 9, 3
    ),
    "shuffle_batch_join_sparse": lambda tf: tf.train.shuffle_batch_join(
        [[_sparse(tf)], [_sparse(tf)], [_sparse(tf)]], 2, 9, 3
    ),
    "maybe_batch_sparse": lambda tf: tf.train.maybe_batch([_sparse(tf), tf.constant(1)], True, 2),
    "maybe_batch_sparse_vector": lambda tf: tf.train.maybe_batch(
        [_sparse(tf), tf.constant([1, 2, 3])], [True, False, True], 2, enqueue_many=True
    ),
    "maybe_shuffle_batch_join_sparse_vector": lambda tf: tf.train.maybe_shuffle_batch_join(
        [[_sparse(tf)], [_sparse(tf)]], 2, 9, 3, tf.constant([True, False, True]), enqueue_many=True
    ),
    "maybe_batch_run_time": lambda tf: tf.train.maybe_batch(
        [tf.constant(1)], tf.placeholder(tf.bool, []), 2
    ),
    "maybe_batch_run_time_sparse": lambda tf: tf.train.maybe_batch(
        [_sparse(tf), tf.constant(1)], tf.placeholder(tf.bool, []), 2
    ),
    "maybe_batch_run_time_sparse_many": lambda tf: tf.train.maybe_batch(
        [_sparse(tf), tf.constant([1, 2, 3])], tf.placeholder(tf.bool, []), 2, enqueue_many=True
    ),
    "maybe_batch_join_run_time": lambda tf: tf.train.maybe_batch_join(
        [[tf.constant(1)], [tf.constant(2)]], tf.placeholder(tf.bool, []), 2
    ),
    "maybe_shuffle_batch_run_time": lambda tf: tf.train.maybe_shuffle_batch(
        [tf.constant(1)], 2, 9, 3, tf.placeholder(tf.bool, [])
    ),
    "maybe_batch_true": lambda tf: tf.train.maybe_batch([tf.constant(1)], True, 2),
    "maybe_batch_false": lambda tf: tf.train.maybe_batch([tf.constant(1)], False, 2),
    "maybe_batch_constant": lambda tf: tf.train.maybe_batch([tf.constant(1)], tf.constant(True), 2),
    "maybe_batch_vector": lambda tf: tf.train.maybe_batch(
        [tf.constant([1, 2, 3])], tf.constant([True, False, True]), 2, enqueue_many=True
    ),
    "maybe_batch_join_true": lambda tf: tf.train.maybe_batch_join(_join_lists(tf), True, 2),
    "maybe_shuffle_batch_true": lambda tf: tf.train.maybe_shuffle_batch(
        [tf.constant(1)], 2, 20, 5, True
    ),
    "maybe_shuffle_batch_join_true": lambda tf: tf.train.maybe_shuffle_batch_join(
        _join_lists(tf), 2, 20, 5, True
    ),
    "scoped": lambda tf: _scoped(tf),
    "queue_runner": _named_queue_runner,
    "text_line_reader": lambda tf: _reading(tf, tf.TextLineReader(skip_header_lines=1)),
    "whole_file_reader": lambda tf: _reading(tf, tf.WholeFileReader("whole")),
    "fixed_reader": lambda tf: _reading(tf, tf.FixedLengthRecordReader(10, 2, 3, hop_bytes=4)),
    "tfrecord_reader": lambda tf: _reading(
        tf,
        tf.TFRecordReader(
            options=tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
        ),
    ),
    "identity_reader": lambda tf: _reading(tf, tf.IdentityReader()),
    "parse_example": lambda tf: tf.parse_example(tf.placeholder(tf.string, [None]), _features(tf)),
    "parse_sparse_feature": lambda tf: tf.parse_example(
        ["x"], {"pairs": tf.SparseFeature("index", "value", tf.float32, 10)}
    ),
    "parse_example_names": lambda tf: tf.parse_example(
        ["x", "y"], {"a": tf.VarLenFeature(tf.string)}, name="mine", example_names=["1", "2"]
    ),
    "parse_single_example": lambda tf: tf.parse_single_example(
        tf.placeholder(tf.string, []), _features(tf)
    ),
    "parse_single_named": lambda tf: tf.parse_single_example(
        "x", {"a": tf.FixedLenFeature([], tf.int64, 7)}, name="mine", example_names="name"
    ),
    "parse_sequence": lambda tf: tf.io.parse_sequence_example(
        tf.placeholder(tf.string, [None]), _context(tf), _sequences(tf)
    ),
    "parse_single_sequence": lambda tf: tf.parse_single_sequence_example(
        tf.placeholder(tf.string, []), _context(tf), _sequences(tf), example_name="name"
    ),
    "parse_single_sequence_bare": lambda tf: tf.parse_single_sequence_example(
        "x", sequence_features={"t": tf.FixedLenSequenceFeature([], tf.int64)}, name="mine"
    ),
    "decode_csv": lambda tf: tf.decode_csv(
        tf.placeholder(tf.string, [None]), [[1], ["a"], tf.constant([], tf.float32), [2.0]]
    ),
    "decode_csv_columns": lambda tf: tf.decode_csv(
        "1;2;3", [[1], [1.0]], field_delim=";", select_cols=[0, 2], na_value="NA", name="mine"
    ),
    "decode_raw": lambda tf: tf.decode_raw(tf.placeholder(tf.string), tf.uint8),
    "decode_raw_big": lambda tf: tf.decode_raw("ab", tf.int16, little_endian=False, name="mine"),
    "decode_json_example": lambda tf: tf.decode_json_example("{}"),
    "parse_tensor": lambda tf: tf.parse_tensor("x", tf.float32),
    "serialize_tensor": lambda tf: tf.serialize_tensor([1, 2]),
    "string_to_number": lambda tf: tf.string_to_number("1", tf.int64),
}


def _scoped(tf):
    with tf.name_scope("input"):
        names = tf.train.string_input_producer(["a", "b"], num_epochs=1)
        key, value = tf.TextLineReader().read(names)
        number = tf.string_to_number(value)
        image, label = tf.train.shuffle_batch([number, key], 8, 100, 20, num_threads=2)
        tf.train.batch([image, label], 2, enqueue_many=True)


# Attrs that say nothing about what a node computes, or that default otherwise.
_LEFT_OUT = ("_class", "_output_shapes", "_device")


def describe(tf, name):
    """Lines about the graph that ``GRAPHS[name]`` makes, and what its call returned."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(11)
        made = GRAPHS[name](tf)
        lines = ["%s = %s(%s)%s%s" % _node(op) for op in graph.get_operations()]
        lines += ["returns " + shown for shown in _shown(made)]
        for key in sorted(graph.get_all_collection_keys(), key=str):
            if not isinstance(key, str):
                continue
            for item in graph.get_collection(key):
                lines.append("%s: %s" % (key, _item(item)))
        return lines


def _node(op):
    inputs = ", ".join(i.name for i in op.inputs)
    waits = "".join(" ^" + c.name for c in op.control_inputs)
    shapes = ", ".join(_shape(o) for o in op.outputs)
    attrs = sorted(
        k
        for k in ("shared_name", "capacity", "seed", "seed2", "skip_header_lines")
        if k in op.node_def.attr
    )
    said = " " + " ".join("%s=%s" % (k, _attr(op.get_attr(k))) for k in attrs) if attrs else ""
    return op.name, op.type, inputs, waits, (" -> " + shapes if shapes else "") + said


def _attr(value):
    return value.decode() if isinstance(value, bytes) else value


def _shape(tensor):
    shape = tensor.get_shape()
    dims = "?" if shape.ndims is None else str(["?" if d is None else d for d in shape.as_list()])
    return "%s%s" % (tensor.dtype.name, dims)


def _shown(made):
    if isinstance(made, dict):
        return ["%s: %s" % (k, t) for k in sorted(made) for t in _shown(made[k])]
    if isinstance(made, (list, tuple)) and not hasattr(made, "_asdict"):
        return [t for item in made for t in _shown(item)]
    if isinstance(made, tuple):
        return [t for item in made for t in _shown(item)]
    if hasattr(made, "dense_shape"):
        parts = (made.indices, made.values, made.dense_shape)
        return ["sparse " + " ".join("%s %s" % (p.name, _shape(p)) for p in parts)]
    if hasattr(made, "queue_ref"):
        shapes = [str(s.as_list() if s.ndims is not None else "?") for s in made.shapes]
        return ["queue %s %s" % (made.name, " ".join(shapes))]
    if hasattr(made, "dtype"):
        return ["%s %s" % (made.name, _shape(made))]
    return [getattr(made, "name", str(made))]


def _item(item):
    if hasattr(item, "enqueue_ops"):
        ops = [op.name for op in item.enqueue_ops] + [item.close_op.name, item.cancel_op.name]
        types = [t.__name__ for t in item.queue_closed_exception_types]
        return "%s %s %s" % (item.name, " ".join(ops), " ".join(types))
    return item.name
