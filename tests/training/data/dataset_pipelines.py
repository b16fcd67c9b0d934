"""Pipelines of ``tf.data`` and what comes out of them, as JSON lines.

Run as ``python dataset_pipelines.py MODULE FOLDER``: MODULE is ``penstock`` or ``tensorflow``.
``dataset_pipelines.json`` holds what TensorFlow 1.15 prints.
"""

import json
import os
import sys
import warnings

import numpy as np


def files(tf, folder):
    os.makedirs(folder, exist_ok=True)

    def put(name, data):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    with tf.python_io.TFRecordWriter(os.path.join(folder, "r")) as w:
        for i in range(4):
            w.write(b"rec%d" % i)
    return (
        put("a.txt", b"one\ntwo\r\nthree"),
        put("b.txt", b"x\n\ny\n"),
        put("f.bin", b"H123456789FF"),
        put("c.csv", b'h,i,j\n1,2.5,x\n3,,"y,z"\n'),
        put("bad.csv", b"1,2\nq,2\n"),
    )


def gen():
    for i in range(3):
        yield i, [i] * i


def pipelines(tf, tmp):
    """Name to a function that makes the dataset."""
    D = tf.data.Dataset
    X = tf.data.experimental
    a, b, f, c, bad = files(tf, tmp)

    def SP():
        return tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])

    return {
        "tensors": lambda: D.from_tensors((1, {"a": 2.0, "b": [1, 2]})),
        "slices": lambda: D.from_tensor_slices((np.arange(4), {"k": np.arange(8.0).reshape(4, 2)})),
        "strings": lambda: D.from_tensor_slices(["a", "bb", ""]),
        "strbatch": lambda: D.from_tensor_slices(["a", "bb", "c"]).batch(2),
        "slicebatch": lambda: D.from_tensor_slices(np.arange(5)).batch(2),
        "slicebatch_drop": lambda: D.from_tensor_slices(np.arange(5)).batch(2, drop_remainder=True),
        "range3": lambda: D.range(10, 0, -3),
        "rangebatch": lambda: D.range(1, 9, 2).batch(3),
        "zip": lambda: D.zip((D.range(3), {"a": D.range(5)})),
        "concat": lambda: D.range(2).concatenate(D.range(5, 7)),
        "map2": lambda: D.zip((D.range(3), D.range(3))).map(lambda x, y: (x + y, x * y)),
        "mapdict": lambda: D.from_tensor_slices({"a": [1, 2]}).map(
            lambda d: {"b": d["a"] * 2, "c": 3}
        ),
        "maplist": lambda: D.range(2).map(lambda x: [x, x + 1]),
        "pmap": lambda: D.range(10).map(lambda x: x * x, num_parallel_calls=3),
        "pmapauto": lambda: D.range(10).map(lambda x: x * x, num_parallel_calls=-1).prefetch(-1),
        "flat": lambda: D.range(4).flat_map(lambda x: D.range(x)),
        "flatcap": lambda: D.range(1, 4).flat_map(lambda x: D.range(2).map(lambda y: x * 10 + y)),
        "inter": lambda: D.range(1, 6).interleave(
            lambda x: D.from_tensors(x).repeat(x), cycle_length=2, block_length=2
        ),
        "inter3": lambda: D.range(1, 6).interleave(
            lambda x: D.from_tensors(x).repeat(x), cycle_length=3
        ),
        "pinter": lambda: D.range(1, 6).interleave(
            lambda x: D.from_tensors(x).repeat(x),
            cycle_length=2,
            block_length=2,
            num_parallel_calls=2,
        ),
        "xinter": lambda: D.range(1, 6).apply(
            X.parallel_interleave(lambda x: D.from_tensors(x).repeat(x), 2, 2)
        ),
        "filter": lambda: D.range(10).filter(lambda x: tf.equal(x % 3, 0)),
        "repeat": lambda: D.range(2).repeat(3),
        "repeat0": lambda: D.range(2).repeat(0),
        "repeatempty": lambda: D.range(0).repeat(),
        "take": lambda: D.range(5).take(2),
        "takeall": lambda: D.range(3).take(-1),
        "skip": lambda: D.range(5).skip(3),
        "skipall": lambda: D.range(3).skip(-1),
        "shard": lambda: D.range(10).shard(3, 1),
        "shufsorted": lambda: (
            D.range(6).shuffle(10, seed=3).batch(6).map(lambda x: tf.reduce_sum(x))
        ),
        "cache": lambda: D.range(3).cache().repeat(2),
        "window": lambda: D.range(7).window(3, shift=2, stride=2).flat_map(lambda d: d.batch(3)),
        "windowdrop": lambda: D.range(7).window(3, 1, 1, True).flat_map(lambda d: d.batch(3)),
        "window5": lambda: D.range(12).window(2, shift=5).flat_map(lambda d: d.batch(2)),
        "unbatch": lambda: D.range(5).batch(2).apply(X.unbatch()),
        "padded": lambda: D.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(2, [None]),
        "padded2": lambda: (
            D.range(1, 4)
            .map(lambda x: (tf.fill([x], x), x))
            .padded_batch(
                2, ([5], []), padding_values=(tf.constant(-1, tf.int64), tf.constant(9, tf.int64))
            )
        ),
        "enum": lambda: D.from_tensor_slices(["x", "y"]).apply(X.enumerate_dataset(5)),
        "mapbatch": lambda: D.range(5).apply(X.map_and_batch(lambda x: x * 2, 2)),
        "scan": lambda: D.range(5).apply(X.scan(np.int64(0), lambda s, x: (s + x, s * x))),
        "takewhile": lambda: D.range(9).apply(X.take_while(lambda x: x < 4)),
        "group": lambda: D.range(10).apply(
            X.group_by_window(lambda x: x % 3, lambda k, d: d.batch(4), window_size=2)
        ),
        "bucket": lambda: (
            D.range(1, 9)
            .map(lambda x: tf.fill([x], x))
            .apply(X.bucket_by_sequence_length(lambda x: tf.size(x), [3, 5], [2, 2, 2]))
        ),
        "bucketb": lambda: (
            D.range(1, 5)
            .map(lambda x: tf.fill([x], x))
            .apply(
                X.bucket_by_sequence_length(
                    lambda x: tf.size(x), [3, 6], [2, 2, 2], pad_to_bucket_boundary=True
                )
            )
        ),
        "unique": lambda: D.from_tensor_slices([1, 2, 1, 3, 2]).apply(X.unique()),
        "ignore": lambda: (
            D.from_tensor_slices([1.0, 0.0, 2.0])
            .map(lambda x: tf.check_numerics(1.0 / x, "bad"))
            .apply(X.ignore_errors())
        ),
        "mapfail": lambda: D.from_tensor_slices([1.0, 0.0, 2.0]).map(
            lambda x: tf.check_numerics(1.0 / x, "bad")
        ),
        "pmapfail": lambda: D.from_tensor_slices([1.0, 0.0, 2.0]).map(
            lambda x: tf.check_numerics(1.0 / x, "bad"), num_parallel_calls=2
        ),
        "choose": lambda: X.choose_from_datasets(
            [D.range(2), D.range(10, 15)], D.from_tensor_slices(np.array([0, 1, 0, 0, 1, 1]))
        ),
        "reducer": lambda: D.range(6).apply(
            X.group_by_reducer(
                lambda x: x % 2,
                X.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s * 10),
            )
        ),
        "counter": lambda: X.Counter(3, 2).take(3),
        "gen": lambda: D.from_generator(gen, (tf.int32, tf.int64), ([], [None])),
        "genbad": lambda: D.from_generator(lambda: iter([1, "x"]), tf.int32, []),
        "genshape": lambda: D.from_generator(lambda: iter([[1, 2]]), tf.int32, [3]),
        "genargs": lambda: D.from_generator(lambda n: iter(range(n)), tf.int64, [], args=(3,)),
        "pyfunc": lambda: D.range(3).map(lambda x: tf.py_func(lambda v: v * 2, [x], tf.int64)),
        "pyfuncstr": lambda: D.from_tensor_slices(["a", "b"]).map(
            lambda x: tf.py_func(lambda v: v + b"!", [x], tf.string)
        ),
        "text": lambda: tf.data.TextLineDataset([a, b]),
        "text1": lambda: tf.data.TextLineDataset(a),
        "text2": lambda: tf.data.TextLineDataset([a, b], num_parallel_reads=2),
        "textmiss": lambda: tf.data.TextLineDataset([tmp + "/none", b]),
        "tfrec": lambda: tf.data.TFRecordDataset(tmp + "/r"),
        "fixed": lambda: tf.data.FixedLengthRecordDataset(f, 3, header_bytes=1, footer_bytes=2),
        "fixedbad": lambda: tf.data.FixedLengthRecordDataset(f, 4, header_bytes=1, footer_bytes=2),
        "csv": lambda: X.CsvDataset(c, [tf.int32, [7.5], tf.string], header=True),
        "csvsel": lambda: X.CsvDataset(c, [tf.int64, tf.string], header=True, select_cols=[0, 2]),
        "csvbad": lambda: X.CsvDataset(bad, [tf.int32, tf.int32]),
        "sparse": lambda: D.from_tensors(SP()).map(lambda s: s),
        "sparsesl": lambda: D.from_tensor_slices(SP()),
        "sparsebatch": lambda: D.from_tensor_slices(SP()).batch(2),
        "sparserows": lambda: D.from_sparse_tensor_slices(SP()),
        "listfiles": lambda: D.list_files(tmp + "/*.txt", shuffle=False).map(
            lambda x: tf.string_join([x, ""])
        ),
        "batchbad": lambda: D.range(1, 3).map(lambda x: tf.fill([x], x)).batch(2),
        "oor": lambda: D.from_generator(lambda: iter([1]), tf.int64, []).map(lambda x: x),
        "batch0": lambda: D.range(3).batch(0),
        "shardbad": lambda: D.range(3).shard(2, 2),
        "shuf0": lambda: D.range(3).shuffle(0),
        "nested": lambda: D.range(2).map(lambda x: (x, (x + 1, {"z": x + 2}))),
        "filterbad": lambda: D.range(2).filter(lambda x: x),
        "flatbad": lambda: D.range(2).flat_map(lambda x: x),
        "concatbad": lambda: D.range(2).concatenate(D.from_tensors(1.0)),
        "slicebad": lambda: D.from_tensor_slices(([1, 2], [1, 2, 3])),
        "windowdict": lambda: (
            D.from_tensor_slices({"a": [1, 2, 3]}).window(2).flat_map(lambda d: d["a"].batch(2))
        ),
        "shufrep": lambda: D.range(3).apply(X.shuffle_and_repeat(1, 2)),
        "cardinality": lambda: D.from_tensors(
            [
                X.cardinality(D.range(5).batch(2)),
                X.cardinality(D.range(3).repeat()),
                X.cardinality(D.range(3).filter(lambda x: x > 1)),
                X.cardinality(D.range(7).shard(3, 0).take(2).concatenate(D.range(2))),
            ]
        ),
        "reduce": lambda: D.from_tensors(D.range(5).reduce(np.int64(1), lambda s, x: s + x)),
        "single": lambda: D.from_tensors(X.get_single_element(D.range(3).batch(5))),
    }


def show(v):
    if isinstance(v, dict):
        return {k: show(v[k]) for k in sorted(v)}
    if hasattr(v, "indices") and hasattr(v, "dense_shape"):
        return ["sparse", show(v.indices), show(v.values), show(v.dense_shape)]
    if isinstance(v, tuple):
        return ["tuple"] + [show(x) for x in v]
    v = np.asarray(v)
    return [str(v.dtype) if v.dtype.kind not in "SO" else "str", repr(v.tolist())]


def static(v):
    if isinstance(v, dict):
        return {k: static(v[k]) for k in sorted(v)}
    if isinstance(v, tuple):
        return [static(x) for x in v]
    if isinstance(v, type):
        return v.__name__
    return str(v).replace("tf.", "").replace("<dtype: '", "").replace("'>", "")


def outcome(tf, make):
    """What a dataset is made of, and its elements; names of errors in their place."""
    out = {}
    elements = []
    try:
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            d = make()
            out["types"] = static(tf.data.get_output_types(d))
            out["shapes"] = static(tf.data.get_output_shapes(d))
            out["classes"] = static(tf.data.get_output_classes(d))
            iterator = d.make_initializable_iterator()
            x = iterator.get_next()
            with tf.Session() as session:
                session.run(iterator.initializer)
                failed = 0
                while len(elements) < 40 and failed < 3:
                    try:
                        elements.append(show(session.run(x)))
                    except tf.errors.OutOfRangeError:
                        elements.append("end")
                        break
                    except tf.errors.OpError as error:
                        elements.append(type(error).__name__)
                        failed += 1
    except Exception as error:
        out["error"] = type(error).__name__
    out["elements"] = elements
    return out


def main(module, folder):
    warnings.filterwarnings("ignore")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if module == "penstock":
        import penstock as tf
    else:
        import tensorflow

        tf = tensorflow.compat.v1
        tf.disable_v2_behavior()
        tf.logging.set_verbosity("ERROR")
    for name, make in pipelines(tf, folder).items():
        text = json.dumps([name, outcome(tf, make)], sort_keys=True)
        print(text.replace(folder, "FOLDER"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
