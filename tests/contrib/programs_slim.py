"""Programs of ``tf.contrib.slim``'s data sets and evaluation (``recorded``)."""

import os
import sys
import tempfile
import types

import numpy as np

from tests.contrib.recorded import names, nodes, refused, values

IMAGE = (np.arange(48).reshape(4, 4, 3) * 5).astype("uint8")


def _feature(tf, values):
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _example(tf, **features):
    made = {key.replace("__", "/"): _feature(tf, values) for key, values in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def _plain(value):
    """A SparseTensor's parts, or the value itself."""
    return list(value) if hasattr(value, "dense_shape") else value


def _run(tf, tensors, start=False):
    """The values of tensors; with ``start``, while queue runners run."""
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        sess.run(tf.tables_initializer())
        if not start:
            return [_plain(value) for value in sess.run(tensors)]
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        found = []
        try:
            while True:
                found.append(sess.run(tensors))
        except tf.errors.OutOfRangeError:
            coord.request_stop()
            coord.join(threads)
        return found


# ---- items ---------------------------------------------------------------------------------------


def _decoder(tf):
    slim = tf.contrib.slim.tfexample_decoder
    table = tf.contrib.lookup.index_table_from_tensor(["cat", "dog"], default_value=-1)
    sparse = {k: tf.VarLenFeature(tf.float32) for k in ("b/ymin", "b/xmin", "b/ymax", "b/xmax")}
    features = {
        "numbers": tf.VarLenFeature(tf.float32),
        "dims": tf.VarLenFeature(tf.int64),
        "high": tf.FixedLenFeature((), tf.int64),
        "wide": tf.FixedLenFeature((1,), tf.int64),
        "words": tf.VarLenFeature(tf.string),
        "none": tf.VarLenFeature(tf.float32),
        "fixed": tf.FixedLenFeature([2, 2], tf.float32),
        "indices": tf.VarLenFeature(tf.int64),
        "values": tf.VarLenFeature(tf.float32),
        **sparse,
    }
    handlers = {
        "plain": slim.Tensor("numbers"),
        "shaped": slim.Tensor("numbers", shape=[3, 2]),
        "by_key": slim.Tensor("numbers", shape_keys="dims"),
        "fixed": slim.Tensor("fixed"),
        "flat": slim.Tensor("fixed", shape=[-1]),
        "scalar": slim.Tensor("high"),
        "labels": slim.LookupTensor("words", table),
        "boxes": slim.BoundingBox(prefix="b/"),
        "spare": slim.BackupHandler(slim.Tensor("none"), slim.Tensor("numbers")),
        "first": slim.BackupHandler(slim.Tensor("numbers"), slim.Tensor("none")),
        "sparse": slim.SparseTensor(shape=[6]),
        "sparse_by_key": slim.SparseTensor(shape_key="dims"),
        "sparse_as_parsed": slim.SparseTensor(),
        "densified": slim.SparseTensor(shape=[6], densify=True, default_value=-1),
        "called": slim.ItemHandlerCallback(
            ["high", "wide"], lambda parsed: parsed["high"] * parsed["wide"]
        ),
    }
    return slim.TFExampleDecoder(features, handlers)


def _record(tf):
    return _example(
        tf, numbers=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dims=[2, 3], high=[3], wide=[2],
        words=[b"dog", b"bird", b"cat"], fixed=[1.5, 2.5, 3.5, 4.5], indices=[1, 4],
        values=[0.5, 0.25], b__ymin=[0.1, 0.2], b__xmin=[0.3, 0.4], b__ymax=[0.5, 0.6],
        b__xmax=[0.7, 0.8],
    )  # fmt: skip


def case_items(tf):
    decoder = _decoder(tf)
    record = tf.constant(_record(tf))
    # "dims" has two elements: no shape for a vector of values.
    wanted = [item for item in decoder.list_items() if item != "sparse_by_key"]
    made = decoder.decode(record, wanted)
    return [decoder.list_items(), _run(tf, made)]


def case_items_nodes(tf):
    decoder = _decoder(tf)
    before = len(nodes(tf))
    decoder.decode(tf.placeholder(tf.string, []), sorted(decoder.list_items()))
    return [n for n in nodes(tf)[before:] if "/ParseSingleExample/" not in n[0]]


def case_dims_of_features(tf):
    slim = tf.contrib.slim.tfexample_decoder
    features = {
        "numbers": tf.VarLenFeature(tf.float32),
        "high": tf.VarLenFeature(tf.int64),
        "wide": tf.FixedLenFeature((1,), tf.int64),
    }
    handlers = {
        "item": slim.Tensor("numbers", shape_keys=["high", "wide"]),
        "first": slim.Tensor("numbers"),
    }
    decoder = slim.TFExampleDecoder(features, handlers)
    item, first = decoder.decode(tf.constant(_record(tf)))
    return [_run(tf, [item, first]), [item.name, first.name]]


def case_refused_handlers(tf):
    slim = tf.contrib.slim.tfexample_decoder
    tensor = slim.Tensor("a")
    return [
        refused(lambda: slim.BoundingBox(["a"]), "BoundingBox expects 4 keys but got 1"),
        refused(lambda: slim.Tensor("a", "b", [1]), "Cannot specify both shape_keys and shape"),
        refused(lambda: slim.BackupHandler(tensor, 1), "Backup handler is of type"),
        refused(lambda: slim.BackupHandler(1, tensor), "Primary handler is of type"),
        refused(lambda: slim.ItemHandler(["a"]), "abstract"),
        refused(tf.contrib.slim.data_decoder.DataDecoder, "abstract"),
        [list(tensor.keys), list(slim.BoundingBox(prefix="p").keys), list(slim.Image().keys)],
    ]


# ---- images --------------------------------------------------------------------------------------


def _png(tf, image):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(tf.image.encode_png(image))


def _image(tf, contents, kind, repeated=False, **arguments):
    slim = tf.contrib.slim.tfexample_decoder
    features = {
        "image/encoded": tf.FixedLenFeature((2,) if repeated else (), tf.string),
        "image/format": tf.FixedLenFeature((), tf.string, default_value="raw"),
    }
    handler = slim.Image(repeated=repeated, **arguments)
    decoder = slim.TFExampleDecoder(features, {"image": handler})
    record = _example(tf, image__encoded=contents, image__format=[kind])
    return decoder.decode(tf.constant(record), ["image"])[0]


def case_images(tf):
    png = _png(tf, IMAGE)
    made = [_image(tf, [png], b"png")]
    made += [_image(tf, [png], b"png", dtype=t, shape=[4, 4, 3]) for t in (tf.uint16, tf.float32)]
    made.append(_image(tf, [png], b"png", channels=1))
    raw = [IMAGE.astype("float32").tobytes()]
    made += [_image(tf, raw, k, dtype=tf.float32, shape=[4, 4, 3]) for k in (b"raw", b"RAW")]
    made.append(_image(tf, [png, _png(tf, IMAGE[::-1])], b"png", repeated=True))
    return [[t.shape.as_list() for t in made[:-1]], [t.dtype.name for t in made], _run(tf, made)]


def case_images_nodes(tf):
    slim = tf.contrib.slim.tfexample_decoder
    parsed = {k: tf.placeholder(tf.string, []) for k in ("image/encoded", "image/format")}
    slim.Image(dtype=tf.uint16, shape=[4, 4, 3], dct_method="INTEGER_FAST").tensors_to_item(parsed)
    graph = tf.get_default_graph()
    method = graph.get_operation_by_name("case/cond/cond_jpeg/DecodeJpeg").get_attr("dct_method")
    # What ``tf.image.decode_image`` is made of is not slim's.
    own = [n for n in nodes(tf) if "decodeimage" not in n[0].lower().replace("_", "")]
    return [method, sorted(own)]


# ---- files ---------------------------------------------------------------------------------------


def _write(tf, folder, count, each=3):
    """Files of TFRecords."""
    paths = []
    for i in range(count):
        paths.append(os.path.join(folder, f"part-{i}"))
        with tf.python_io.TFRecordWriter(paths[-1]) as writer:
            for j in range(each):
                writer.write(_example(tf, number=[i * each + j]))
    return paths


def case_data_files(tf):
    find = tf.contrib.slim.parallel_reader.get_data_files
    with tempfile.TemporaryDirectory() as folder:
        paths = _write(tf, folder, 3)
        found = [
            find(os.path.join(folder, "part-*")), find(os.path.join(folder, "part-[01]")),
            find((paths[2], [os.path.join(folder, "part-?"), "other"])),
        ]  # fmt: skip
        return [
            [[os.path.basename(path) for path in sorted(paths)] for paths in found],
            refused(lambda: find(os.path.join(folder, "x*")), "No data files found in"),
            refused(lambda: find([]), "No data files found in"),
        ]


def case_single_pass(tf):
    read = tf.contrib.slim.parallel_reader.single_pass_read
    with tempfile.TemporaryDirectory() as folder:
        key, value = read(_write(tf, folder, 2), tf.TFRecordReader)
        found = _run(tf, [key, value], start=True)
    made = [n for n in nodes(tf) if not n[0].startswith("init")]
    return [[os.path.basename(k) for k, _ in found], [v for _, v in found], made]


def case_parallel_read_nodes(tf):
    read = tf.contrib.slim.parallel_reader.parallel_read
    read(["a", "b"], tf.TFRecordReader, num_epochs=1, num_readers=2)
    options = {"skip_header_lines": 1}
    read(["a"], tf.TextLineReader, shuffle=False, reader_kwargs=options, capacity=8, scope="own")
    summaries = [s.op.name for s in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    runners = [r.name for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]
    return [nodes(tf), summaries, runners]


def case_parallel_reader(tf):
    slim = tf.contrib.slim.parallel_reader
    queue = tf.FIFOQueue(30, [tf.string, tf.string], shapes=[[], []])
    reader = slim.ParallelReader(tf.TFRecordReader, queue, num_readers=2)
    found = [reader.num_readers, reader.common_queue is queue]
    for other in (tf.FIFOQueue(3, [tf.string]), tf.FIFOQueue(3, [tf.string, tf.int32])):
        found.append(refused(
            lambda other=other: slim.ParallelReader(tf.TFRecordReader, other),
            "common_queue.dtypes must be [tf.string, tf.string]",
        ))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        files = tf.train.string_input_producer(_write(tf, folder, 4), num_epochs=1)
        keys, values = reader.read_up_to(files, 5)
        produced = reader.num_records_produced(name="produced")
        counts = [produced, reader.num_work_units_completed(name="completed")]
        with tf.Session() as sess:
            sess.run(tf.local_variables_initializer())
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coord)
            # The last batch is short: it is there when the runners have closed the queue.
            batches = [sess.run([keys, values]) for _ in range(3)]
            coord.request_stop()
            coord.join(threads)
            found += [[len(k) for k, _ in batches], sorted(v for _, b in batches for v in b)]
            found += sess.run(counts)
    return found + [t.name for t in counts]


# ---- data sets -----------------------------------------------------------------------------------


def _numbers(tf, files):
    slim = tf.contrib.slim
    decoder = slim.tfexample_decoder.TFExampleDecoder(
        {"number": tf.FixedLenFeature((), tf.int64)},
        {"number": slim.tfexample_decoder.Tensor("number")},
    )
    return slim.dataset.Dataset(
        files, tf.TFRecordReader, decoder, 12, {"number": "a number"}, num_classes=3
    )


def case_dataset(tf):
    provide = tf.contrib.slim.dataset_data_provider.DatasetDataProvider
    with tempfile.TemporaryDirectory() as folder:
        data = _numbers(tf, _write(tf, folder, 4))
        provider = provide(data, num_epochs=2, shuffle=False)
        shuffled = provide(data, num_readers=2, num_epochs=1, common_queue_min=4, seed=3)
        number, key = provider.get(["number", "record_key"])
        in_order = _run(tf, [number, key], start=True)
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        data = _numbers(tf, _write(tf, folder, 4))
        other = provide(data, num_readers=2, num_epochs=1, common_queue_min=4, seed=3)
        mixed = [n for (n,) in _run(tf, other.get(["number"]), start=True)]
    return [
        sorted(vars(data)), data.num_classes, data.items_to_descriptions,
        sorted(provider.list_items()), provider.num_samples(),
        [[int(n), os.path.basename(k)] for n, k in in_order],
        sorted(mixed), number.name, shuffled.get(("number",))[0].name,
        refused(lambda: provider.get("number"), "items must be a list or tuple"),
        refused(lambda: provider.get(["other"]), "Item [other] is invalid."),
        refused(lambda: provide(data, record_key="number"),
                "The item name used for `record_key` cannot also be used for a dataset item"),
    ]  # fmt: skip


def case_prefetch_queue(tf):
    queue = tf.contrib.slim.prefetch_queue.prefetch_queue
    counter = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    listed = queue([counter, tf.stack([counter, counter * 2])], capacity=4)
    padded = queue([tf.placeholder(tf.float32, [None, 2])], 3, 2, dynamic_pad=True, name="padded")
    named = queue({"b": tf.constant([1.0]), "a": tf.constant(2)}, shared_name="shared")
    made = nodes(tf)
    runners = [len(r.enqueue_ops) for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]
    found = [made, runners, sorted(named.dequeue()), named.names, padded.dequeue().shape.as_list()]
    del tf.get_collection_ref(tf.GraphKeys.QUEUE_RUNNERS)[2:]
    return [*found, _run(tf, listed.dequeue(), start=True),
            [s.op.name for s in tf.get_collection(tf.GraphKeys.SUMMARIES)]]  # fmt: skip


# ---- evaluation ----------------------------------------------------------------------------------


def _checkpoint(tf, folder, value, step):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.get_or_create_global_step()
        tf.get_variable("w", initializer=value)
        sess.run(tf.global_variables_initializer())
        sess.run(tf.assign(tf.train.get_global_step(), step))
        return tf.train.Saver().save(sess, os.path.join(folder, "model.ckpt"), step)


def _events(tf, folder):
    if not os.path.exists(folder):
        return None
    found = []
    for path in sorted(tf.gfile.Glob(os.path.join(folder, "events*"))):
        for event in tf.train.summary_iterator(path):
            found += [[event.step, v.tag, v.simple_value] for v in event.summary.value]
    return found


def _model(tf):
    tf.train.get_or_create_global_step()
    weight = tf.get_variable("w", initializer=0.0)
    total = tf.get_variable(
        "total", initializer=0.0, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES]
    )
    tf.summary.scalar("weight", weight)
    return weight, total, tf.assign_add(total, weight)


def case_evaluate_once(tf):
    evaluation = tf.contrib.slim.evaluation
    found = []
    for arguments in ({}, {"num_evals": 3}, {"summary_op": None}, {"some": True}):
        with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
            path = _checkpoint(tf, folder, 2.5, 7)
            weight, total, count = _model(tf)
            if arguments.pop("some", False):
                arguments["variables_to_restore"] = [weight, tf.train.get_global_step()]
            logdir = os.path.join(folder, "log")
            value = evaluation.evaluate_once(
                "", path, logdir, eval_op=count, final_op=[total, weight], **arguments
            )
            found.append([value, _events(tf, logdir)])
    return found


def case_evaluation_loop(tf):
    evaluation = tf.contrib.slim.evaluation
    called = []
    with tempfile.TemporaryDirectory() as folder:
        _checkpoint(tf, folder, 2.5, 7)
        _, total, count = _model(tf)
        logdir = os.path.join(folder, "log")
        value = evaluation.evaluation_loop(
            "", folder, logdir, num_evals=2, eval_op=count, final_op=total, eval_interval_secs=0,
            init_fn=lambda scaffold, session: called.append("init"), timeout=1,
            timeout_fn=lambda: called.append("timeout") or True,
        )  # fmt: skip
        first = evaluation.wait_for_new_checkpoint(folder)
        return [
            value, called, _events(tf, logdir), os.path.basename(first),
            evaluation.wait_for_new_checkpoint(folder, first, 0.1, timeout=0.2),
            [os.path.basename(p) for p in evaluation.checkpoints_iterator(folder, timeout=0)],
        ]  # fmt: skip


def case_input_layer(tf):
    feature_column, slim = tf.feature_column, tf.contrib.slim
    category = feature_column.categorical_column_with_identity("c", 5)
    columns = [
        feature_column.numeric_column("x", shape=[2]),
        feature_column.embedding_column(category, 3, initializer=tf.ones_initializer()),
    ]
    features = {"x": tf.constant([[1.0, 2.0]]), "c": tf.constant([[3]])}
    first = slim.InputLayer(columns)
    found = [[first.name, first(features).name, first(features).name]]
    later = slim.InputLayer(columns, ["w"], False, name="mine", create_scope_now=False)
    with tf.variable_scope("outer"):
        made = later(features)
    found.append([later.name, made.name, names(tf.get_collection("w"))])
    for layer in (first, later):
        found.append([names(layer.variables), names(layer.trainable_variables)])
        found.append([names(layer.weights), names(layer.non_trainable_weights)])
    found.append([values(tf, made), refused(lambda: slim.InputLayer([category])(features))])
    return found


def case_of_documentation(tf):
    slim = tf.contrib.slim

    def documented():
        """Does a thing.

        More of it.
        """
        return 3

    def undocumented():
        return 4

    marked = [slim.experimental(each) for each in (documented, undocumented)]
    module = types.ModuleType("named_module", "@@a\n@@missing\nwords @@b")
    module.a, module.b, module.c = 1, 2, 3
    other = types.ModuleType("other", "@@c")
    sys.modules["named_module"] = module
    try:
        made = [slim.make_all("named_module"), slim.make_all("named_module", [module, other])]
    finally:
        del sys.modules["named_module"]
    return [
        [[m.__doc__.strip(), m.__name__, m()] for m in marked],
        [sorted(each) for each in made],
        refused(lambda: slim.experimental(3), "is not a function. If this is a property"),
    ]
