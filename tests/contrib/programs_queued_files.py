"""Programs of ``tf.contrib.learn``'s readers of files in batches (``recorded``)."""

import os
import tempfile

from tests.contrib.recorded import refused


def _files(tf):
    """A folder with two files of lines and two of ``Example`` records."""
    folder = tempfile.mkdtemp()
    for k in range(2):
        with open(os.path.join(folder, f"lines{k}.txt"), "w") as file:
            file.write("".join(f"{k}{i}\n" for i in range(5)))
        path = os.path.join(folder, f"records{k}.rec")
        with tf.python_io.TFRecordWriter(path) as writer:
            for i in range(5):
                number = tf.train.Feature(int64_list=tf.train.Int64List(value=[10 * k + i]))
                some = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5 * i] * i))
                features = tf.train.Features(feature={"a": number, "v": some})
                writer.write(tf.train.Example(features=features).SerializeToString())
    return folder


def _run(tf, fetches, count=6):
    """What steps find until the queue ends, and the graph's op types by what they are about."""
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        found = []
        try:
            for _ in range(count):
                found.append(sess.run(fetches))
        except tf.errors.OutOfRangeError:
            found.append("the end")
        coordinator.request_stop()
        coordinator.join(threads, ignore_live_threads=True)
    return found


def _graph(tf):
    names = [each.name for each in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]
    summaries = [each.name for each in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    types = [op.type for op in tf.get_default_graph().get_operations() if op.type != "Const"]
    return [names, summaries, types]


def _short(keys):
    """Keys of records without the folder of their file."""
    return [os.path.basename(each.decode()) for each in keys]


def case_examples(tf):
    pattern, found = os.path.join(_files(tf), "*.txt"), []
    for given in ({}, {"read_batch_size": 2}, {"parse_fn": tf.string_to_number}):
        with tf.Graph().as_default():
            made = tf.contrib.learn.read_batch_examples(
                pattern, 3, tf.TextLineReader, False, 1, 20, **given
            )
            found.append([made.name, made.shape.as_list(), _run(tf, made), _graph(tf)])
    with tf.Graph().as_default():
        made = tf.contrib.learn.read_batch_examples(
            pattern, 4, tf.TextLineReader, num_epochs=2, queue_capacity=20, num_threads=2, seed=3,
            name="foo")  # fmt: skip
        drawn = [each for each in _run(tf, made) if not isinstance(each, str)]
        flat = sorted(line.decode() for each in drawn for line in each)
        found.append([flat, [len(each) for each in drawn], _graph(tf)])
    return found


def case_keyed_examples(tf):
    pattern, found = os.path.join(_files(tf), "*.txt"), []
    for function in ("read_keyed_batch_examples", "read_keyed_batch_examples_shared_queue"):
        with tf.Graph().as_default():
            keys, records = getattr(tf.contrib.learn, function)(
                pattern, 3, tf.TextLineReader, False, 1, 20
            )
            ran = _run(tf, [keys, records])
            found.append([[keys.name, records.name], _graph(tf)[:2]])
            found.append([[_short(each[0]), each[1]] for each in ran[:-1]] + ran[-1:])
    return found


def case_features(tf):
    pattern, package = os.path.join(_files(tf), "*.rec"), tf.contrib.learn
    features = {"a": tf.FixedLenFeature([], tf.int64), "v": tf.VarLenFeature(tf.float32)}
    found = []
    given = {"randomize_input": False, "num_epochs": 1, "queue_capacity": 20}
    for make in (
        lambda: package.read_batch_features(pattern, 3, features, tf.TFRecordReader, **given),
        lambda: package.read_batch_record_features(pattern, 4, features, **given),
    ):
        with tf.Graph().as_default():
            made = make()
            # Two threads parse, so that batches may come in another order.
            ran = _run(tf, {"a": made["a"], "v": tf.sparse_tensor_to_dense(made["v"])})
            rows = sorted([int(a), float(v.sum())] for each in ran[:-1]
                          for a, v in zip(each["a"], each["v"]))  # fmt: skip
            found.append([rows, made["a"].name, made["v"].values.name, _graph(tf)])
    for function in ("read_keyed_batch_features", "read_keyed_batch_features_shared_queue"):
        with tf.Graph().as_default():
            keys, made = getattr(package, function)(
                pattern, 3, features, tf.TFRecordReader, **given
            )
            ran = _run(tf, [keys, made["a"]])
            found.append(sorted([key, int(a)] for each in ran[:-1]
                                for key, a in zip(_short(each[0]), each[1])))  # fmt: skip
            found.append([keys.name, made["a"].name, _graph(tf)[:2]])
    return found


def case_refused(tf):
    pattern, package = os.path.join(_files(tf), "*.txt"), tf.contrib.learn

    def read(words, pattern=pattern, size=3, **given):
        made = lambda: package.read_batch_examples(pattern, size, tf.TextLineReader, **given)  # noqa: E731
        return refused(made, words)

    return [
        read("No files match", pattern + "x"), read("No files given to dequeue_examples", []),
        read("Invalid batch_size 0", size=0), read("Invalid batch_size None", size=None),
        read("with queue_capacity 20", size=30, queue_capacity=20),
        read("Invalid queue_capacity 0", queue_capacity=0),
        read("Invalid num_threads 0", num_threads=0), read("Invalid num_epochs -1", num_epochs=-1),
        read("Invalid read_batch_size 0", read_batch_size=0),
    ]  # fmt: skip
