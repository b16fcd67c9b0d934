"""Programs that read files through queues, for Penstock and for TensorFlow 1.15 (Python 3.7).

Each function of ``PROGRAMS`` takes ``tf`` and a folder, makes its files there, and returns what
JSON can hold; the folder's name is replaced in it.  Orders are fixed: nothing is shuffled, and each
queue has one thread.
"""

# Python 3.7 of TensorFlow 1.15 runs this too; closures are called at once.
# ruff: noqa: B023, UP031

import os

import numpy as np


def _files(folder, contents):
    names = []
    for i, content in enumerate(contents):
        names.append(os.path.join(folder, "file%d" % i))
        with open(names[-1], "wb") as out:
            out.write(content)
    return names


def _plain(value, folder):
    if isinstance(value, dict):
        return {k: _plain(v, folder) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, folder) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist(), folder)
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return value.replace(folder, "FOLDER") if isinstance(value, str) else value


def run(tf, name, folder):
    """What ``PROGRAMS[name]`` gives."""
    with tf.Graph().as_default():
        return _plain(PROGRAMS[name](tf, folder), folder)


def _error(tf, call):
    try:
        return ["value", call()]
    except tf.errors.OpError as error:
        return ["error", type(error).__name__]


def _until_end(tf, fetches, also=None, init=True, most=100):
    """Runs the fetches until the input ends; what they gave, how it ended, and ``also``."""
    with tf.Session() as sess:
        if init:
            sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        found, end = [], "still running"
        try:
            while not coord.should_stop() and len(found) < most:
                found.append(sess.run(fetches))
        except tf.errors.OpError as error:
            end = type(error).__name__
        last = None if also is None else sess.run(also)
        coord.request_stop()
        coord.join(threads)
        return [found, end, last]


def _reads(tf, reader, names, count=None, epochs=1):
    queue = tf.train.string_input_producer(names, num_epochs=epochs, shuffle=False)
    fetched = reader.read(queue) if count is None else reader.read_up_to(queue, count)
    counters = [reader.num_records_produced(), reader.num_work_units_completed()]
    return _until_end(tf, list(fetched), counters)


_LINES = [b"a,1\nb,2\r\n\nlast", b"", b"c\rd\n", b"\n"]


def lines(tf, folder):
    return _reads(tf, tf.TextLineReader(), _files(folder, _LINES))


def lines_header(tf, folder):
    return _reads(tf, tf.TextLineReader(skip_header_lines=1), _files(folder, _LINES), epochs=2)


def lines_up_to(tf, folder):
    return _reads(tf, tf.TextLineReader(), _files(folder, _LINES), count=3)


def lines_up_to_many(tf, folder):
    return _reads(tf, tf.TextLineReader(), _files(folder, _LINES), count=100)


def whole(tf, folder):
    return _reads(tf, tf.WholeFileReader(), _files(folder, _LINES))


def whole_up_to(tf, folder):
    return _reads(tf, tf.WholeFileReader(), _files(folder, _LINES), count=3)


def identity(tf, folder):
    return _reads(tf, tf.IdentityReader(), ["x", "y"], epochs=2)


def fixed(tf, folder):
    names = _files(folder, [b"HHabcdefghiF", b"HHF", b"HHabF", b"HHabcF"])
    return _reads(tf, tf.FixedLengthRecordReader(3, 2, 1), names)


def fixed_hop(tf, folder):
    names = _files(folder, [b"abcdefgh", b"abcdef"])
    return _reads(tf, tf.FixedLengthRecordReader(4, hop_bytes=2), names)


def fixed_up_to(tf, folder):
    names = _files(folder, [b"abcdefgh", b"ijkl"])
    return _reads(tf, tf.FixedLengthRecordReader(2), names, count=5)


def _records(tf, folder, kind):
    options = tf.python_io.TFRecordOptions(kind)
    names = [os.path.join(folder, "records%d" % i) for i in range(3)]
    for i, name in enumerate(names):
        with tf.python_io.TFRecordWriter(name, options) as writer:
            for j in range(2 * i):
                writer.write(b"%d-%d" % (i, j) * (j + 1))
    return names, options


def tfrecords(tf, folder):
    names, _ = _records(tf, folder, 0)
    return _reads(tf, tf.TFRecordReader(), names)


def tfrecords_gzip(tf, folder):
    names, options = _records(tf, folder, 2)
    return [v for v, _ in zip(_reads(tf, tf.TFRecordReader(options=options), names), range(3))]


def tfrecords_zlib_up_to(tf, folder):
    names, options = _records(tf, folder, 1)
    found = _reads(tf, tf.TFRecordReader(options=options), names, count=3)
    return [[values for _, values in found[0]], found[1:]]


def damaged(tf, folder):
    """A damaged record: the same error again and again; a reset goes on with the next file."""
    names, _ = _records(tf, folder, 0)
    with open(names[1], "r+b") as file:
        file.seek(14)
        file.write(b"?")
    reader = tf.TFRecordReader()
    queue = tf.FIFOQueue(10, tf.string, shapes=[[]])
    read = reader.read(queue)[1]
    counters = [reader.num_records_produced(), reader.num_work_units_completed()]
    with tf.Session() as sess:
        sess.run(queue.enqueue_many([names[1:]]))
        sess.run(queue.close())
        found = [_error(tf, lambda: sess.run(read)) for _ in range(3)]
        found.append(sess.run(counters))
        sess.run(reader.reset())
        found += [_error(tf, lambda: sess.run(read)), sess.run(counters)]
        return found


def missing(tf, folder):
    """A missing file is an error once."""
    names = _files(folder, [b"one"])
    queue = tf.FIFOQueue(10, tf.string, shapes=[[]])
    found = []
    for reader in (tf.TextLineReader(), tf.WholeFileReader()):
        read = reader.read(queue)[1]
        counters = [reader.num_records_produced(), reader.num_work_units_completed()]
        with tf.Session() as sess:
            sess.run(queue.enqueue_many([[folder + "/nowhere", names[0]]]))
            sess.run(queue.close())
            found.append([_error(tf, lambda: sess.run(read)) for _ in range(2)])
            found.append(sess.run(counters))
    return found


def state(tf, folder):
    """What readers say about their state, and what restoring it gives."""
    found = []
    queue = tf.FIFOQueue(10, tf.string, shapes=[[]])
    fill = queue.enqueue_many([["x", "y", "z"]])
    for reader in (tf.IdentityReader(), tf.WholeFileReader(), tf.TextLineReader()):
        given = tf.placeholder(tf.string)
        restore, saved = reader.restore_state(given), reader.serialize_state()
        read = reader.read(queue)
        with tf.Session() as sess:
            sess.run(fill)
            sess.run(queue.close())
            found.append(_error(tf, lambda: sess.run(saved)))
            if isinstance(reader, tf.IdentityReader):
                found += [sess.run(list(read)), sess.run(saved)]
            else:
                found.append("-")
            for text in (b"", b"\x08\x02\x10\x01\x18\x01\x22\x01q", b"\xff", b"\x08\x01\x10\x05"):
                found.append(_error(tf, lambda: sess.run(restore, {given: text})))
                found.append(_error(tf, lambda: sess.run(saved)))
                if isinstance(reader, tf.IdentityReader) and b"q" in text:
                    found.append(sess.run(list(read)))
    return found


def epochs_through_queues(tf, folder):
    """Names, lines, numbers, batches: the end goes through three queues."""
    names = _files(folder, [b"1,a\n2,b\n3,c\n", b"4,d\n5,e\n"])
    queue = tf.train.string_input_producer(names, num_epochs=2, shuffle=False)
    _, line = tf.TextLineReader().read(queue)
    number, text = tf.decode_csv(line, [[0], ["-"]])
    batch = tf.train.batch([number * 10, text], 3, capacity=4)
    again = tf.train.batch(batch, 2, enqueue_many=True, allow_smaller_final_batch=True)
    return _until_end(tf, again)


def smaller_final_batch(tf, folder):
    number = tf.train.range_input_producer(7, num_epochs=1, shuffle=False).dequeue()
    return _until_end(tf, tf.train.batch([number], 3, allow_smaller_final_batch=True))


def dropped_final_batch(tf, folder):
    number = tf.train.range_input_producer(7, num_epochs=1, shuffle=False).dequeue()
    return _until_end(tf, tf.train.batch({"n": number, "m": -number}, 3))


def padded(tf, folder):
    number = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    return _until_end(tf, tf.train.batch([tf.range(number)], 2, dynamic_pad=True))


def slices(tf, folder):
    pair = tf.train.slice_input_producer([[1, 2, 3], ["a", "b", "c"]], num_epochs=2, shuffle=False)
    return _until_end(tf, pair)


def kept_by_vector(tf, folder):
    number = tf.train.range_input_producer(4, num_epochs=2, shuffle=False).dequeue_many(4)
    keep = tf.equal(number % 2, 0)
    return _until_end(tf, tf.train.maybe_batch([number], keep, 4, enqueue_many=True))


def uninitialized(tf, folder):
    number = tf.train.range_input_producer(3, num_epochs=1).dequeue()
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        found = [_error(tf, lambda: sess.run(number))]
        coord.request_stop()
        found.append(_error(tf, lambda: coord.join(threads)))
        return found


def cifar(tf, folder):
    """Records of a label and an image, as the CIFAR programs read them."""
    names = _files(folder, [bytes(bytearray(range(i, i + 26))) for i in (0, 100)])
    queue = tf.train.string_input_producer(names, num_epochs=1, shuffle=False)
    _, value = tf.FixedLengthRecordReader(record_bytes=13).read(queue)
    record = tf.decode_raw(value, tf.uint8)
    label = tf.cast(tf.strided_slice(record, [0], [1]), tf.int32)
    image = tf.reshape(tf.strided_slice(record, [1], [13]), [3, 2, 2])
    image = tf.cast(tf.transpose(image, [1, 2, 0]), tf.float32)
    label.set_shape([1])
    images, labels = tf.train.batch([image, label], 2, num_threads=1, capacity=10)
    return _until_end(tf, [images, tf.reshape(labels, [2])])


def _example(tf, **features):
    kinds = {
        int: ("int64_list", tf.train.Int64List),
        float: ("float_list", tf.train.FloatList),
        bytes: ("bytes_list", tf.train.BytesList),
    }
    made = {}
    for key, values in features.items():
        field, kind = kinds[type(values[0])]
        made[key] = tf.train.Feature(**{field: kind(value=values)})
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def examples(tf, folder):
    """TFRecords of examples, parsed one by one and as batches."""
    name = os.path.join(folder, "examples")
    with tf.python_io.TFRecordWriter(name) as writer:
        writer.write(_example(tf, label=[1], tags=[b"x", b"yz"], image=[0.5, 1.5], many=[1.0, 2.0]))
        writer.write(_example(tf, image=[2.5, 3.5]))
        writer.write(_example(tf, label=[-7], image=[1.0, 2.0], tags=[b""], many=[3.0] * 4))
    queue = tf.train.string_input_producer([name], num_epochs=2, shuffle=False)
    _, record = tf.TFRecordReader().read(queue)
    wanted = {
        "label": tf.FixedLenFeature([], tf.int64, default_value=9),
        "image": tf.FixedLenFeature([2, 1], tf.float32),
        "tags": tf.VarLenFeature(tf.string),
        "many": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
    }
    whole = tf.parse_example(tf.train.batch([record], 3), wanted)
    one = tf.parse_single_example(
        _example(tf, image=[2.5, 3.5], many=[1.0, 2.0], tags=[b"a", b"b"]), wanted
    )
    with tf.Session() as sess:
        single = sess.run(one)
    return [_until_end(tf, whole), single]


def _sparse_rows(tf):
    return tf.SparseTensor(
        [[0, 0], [0, 2], [2, 1], [3, 0], [3, 1]], [1.0, 2.0, 3.0, 4.0, 5.0], [5, 3]
    )


def sparse_batches(tf, folder):
    number = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    wide = tf.cast(number, tf.int64)
    letter = tf.gather(tf.constant(["a", "b", "c", "d", "e"]), number)
    one = tf.SparseTensor(
        tf.stack([tf.stack([wide, wide * 2])]), tf.stack([letter]), tf.stack([wide + 1, 9])
    )
    batch = tf.train.batch([one, number], 2, allow_smaller_final_batch=True)
    return _until_end(tf, batch)


def sparse_batches_of_rows(tf, folder):
    rows, numbers = tf.train.batch(
        [_sparse_rows(tf), tf.range(5)], 3, capacity=10, enqueue_many=True
    )
    return _until_end(tf, [rows, numbers], init=False, most=4)


def sparse_batches_of_kept_rows(tf, folder):
    rows, numbers = tf.train.maybe_batch(
        [_sparse_rows(tf), tf.constant([7, 8, 9, 10, 11])],
        [True, False, True, True, True],
        4,
        capacity=10,
        enqueue_many=True,
    )
    return _until_end(tf, [rows, numbers], init=False, most=4)


def kept_at_run_time(tf, folder):
    number = tf.train.range_input_producer(9, num_epochs=1, shuffle=False).dequeue()
    keep = tf.less(tf.floormod(number, 3), 2)
    batch = tf.train.maybe_batch([number], keep, 2, allow_smaller_final_batch=True)
    return _until_end(tf, batch)


def sparse_kept_at_run_time(tf, folder):
    number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    one = tf.SparseTensor([[0]], tf.stack([number]), [3])
    keep = tf.equal(tf.floormod(number, 2), 1)
    return _until_end(tf, tf.train.maybe_batch([one, number], keep, 3))


def sparse_join(tf, folder):
    one = tf.SparseTensor([[1]], [True], [3])
    rows = tf.train.batch_join([[one], [one]], 3)
    return _until_end(tf, rows, init=False, most=3)


PROGRAMS = {
    f.__name__: f
    for f in (
        lines,
        lines_header,
        lines_up_to,
        lines_up_to_many,
        whole,
        whole_up_to,
        identity,
        fixed,
        fixed_hop,
        fixed_up_to,
        tfrecords,
        tfrecords_gzip,
        tfrecords_zlib_up_to,
        damaged,
        missing,
        state,
        epochs_through_queues,
        smaller_final_batch,
        dropped_final_batch,
        padded,
        slices,
        kept_by_vector,
        uninitialized,
        cifar,
        examples,
        sparse_batches,
        sparse_batches_of_rows,
        sparse_batches_of_kept_rows,
        sparse_join,
        kept_at_run_time,
        sparse_kept_at_run_time,
    )
}
