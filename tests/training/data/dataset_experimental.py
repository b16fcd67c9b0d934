"""Pipelines of ``tf.data.experimental`` and ``tf.contrib.data``, and what comes out of them.

Run as ``python dataset_experimental.py MODULE FOLDER``: MODULE is ``penstock`` or ``tensorflow``
(1.15, Python 3.7).  ``dataset_experimental.json`` holds what TensorFlow prints.
"""

import json
import os
import sqlite3
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dataset_pipelines import outcome


def files(tf, folder):
    """Files that pipelines read."""
    os.makedirs(folder)
    with open(folder + "/x.csv", "w") as file:
        file.write("a,b,c,d\n1,2.5,x,\n3,4,'y',5000000000\n5,6,z,7\n")
    with open(folder + "/y.csv", "w") as file:
        file.write("a,b,c,d\n,1e39,x,\n,4,y,\n,6,z,\n")
    with open(folder + "/bad.csv", "w") as file:
        file.write("a,b\n1,2\nx,4\n5,6\n")
    with open(folder + "/bare.csv", "w") as file:
        file.write("1;2\n3;NA\n")
    connection = sqlite3.connect(folder + "/q.db")
    connection.execute("create table t(a integer, b text, c real)")
    rows = [(1, "x", 2.5), (None, None, None), (3, "4y", 1e300), (-7, "", 0.1)]
    connection.executemany("insert into t values(?, ?, ?)", rows)
    connection.commit()
    connection.close()
    with tf.io.TFRecordWriter(folder + "/r") as writer:
        for number in range(5):
            feature = {
                "i": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
                "v": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a"] * (number % 3))),
                "f": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5] * number)),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())


def pipelines(tf, folder):
    """Functions that make a dataset, by name."""
    files(tf, folder)
    X, C, D = tf.data.experimental, tf.contrib.data, tf.data.Dataset
    x, y, db = folder + "/x.csv", folder + "/y.csv", folder + "/q.db"
    parts = {
        "i": tf.FixedLenFeature([], tf.int64),
        "v": tf.VarLenFeature(tf.string),
        "f": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
        "z": tf.FixedLenFeature([2], tf.float32, default_value=[1.0, 2.0]),
    }

    def csv(name, **more):
        more.setdefault("num_epochs", 1)
        return X.make_csv_dataset(name, 2, shuffle=False, **more)

    def sql(query, *types):
        return X.SqlDataset("sqlite", db, query, types)

    def ragged():
        return D.from_generator(lambda: [[1, 2], [3], [4, 5, 6]], tf.int32, [None])

    def features(**more):
        more.setdefault("num_epochs", 1)
        return X.make_batched_features_dataset(folder + "/r", 2, parts, shuffle=False, **more)

    def unknown():
        return D.range(3).map(lambda v: tf.py_func(lambda w: w, [v], tf.int64))

    return {
        "csv": lambda: csv(x),
        "csv_label": lambda: csv(x, label_name="c", num_epochs=2),
        "csv_endless": lambda: csv(x, num_epochs=None).take(4),
        "csv_select": lambda: csv(x, select_columns=["c", "a"]),
        "csv_numbers": lambda: csv(x, select_columns=[3, 0]),
        "csv_defaults": lambda: csv(x, column_defaults=[tf.int64, [0.0], tf.string, [7]]),
        "csv_two": lambda: csv([x, y], num_parallel_reads=2, column_defaults=[tf.string] * 4),
        "csv_missing": lambda: csv(y),
        "csv_names": lambda: csv(
            folder + "/bare.csv", column_names=["p", "q"], header=False, field_delim=";",
            na_value="NA",
        ),
        "csv_ignore": lambda: csv(
            folder + "/bad.csv", column_defaults=[tf.int32] * 2, ignore_errors=True
        ),
        "csv_bad": lambda: csv(folder + "/bad.csv", column_defaults=[tf.int32] * 2),
        "csv_few_rows": lambda: csv(folder + "/bad.csv", num_rows_for_inference=1),
        "csv_none": lambda: csv(folder + "/none*.csv"),
        "csv_width": lambda: csv(x, column_names=["a", "b"]),
        "csv_twice": lambda: csv(x, column_names=list("aacd")),
        "csv_no_label": lambda: csv(x, label_name="q"),
        "csv_no_column": lambda: csv(x, select_columns=["q"]),
        "csv_far_column": lambda: csv(x, select_columns=[0, 7]),
        "csv_same_column": lambda: csv(x, select_columns=[0, 0]),
        "csv_no_header": lambda: csv(x, header=False),
        "features": features,
        "features_label": lambda: features(label_key="i", num_epochs=2, drop_final_batch=True),
        "features_endless": lambda: features(num_epochs=None, reader_num_threads=2).take(3),
        "features_no_label": lambda: features(label_key="q"),
        "parse": lambda: (
            tf.data.TFRecordDataset(folder + "/r").batch(3).apply(X.parse_example_dataset(parts, 2))
        ),
        "parse_numbers": lambda: D.range(3).apply(X.parse_example_dataset(parts)),
        "parse_nothing": lambda: D.range(3).apply(X.parse_example_dataset(None)),
        "parse_bad": lambda: (
            D.from_tensors(["\xff"]).repeat(2).apply(X.parse_example_dataset(parts))
        ),
        "sql": lambda: sql("select a, b, c from t", tf.int32, tf.string, tf.float64),
        "sql_text": lambda: sql("select a, c, c from t", tf.bool, tf.string, tf.int64),
        "sql_numbers": lambda: sql("select b, c, a from t", tf.int32, tf.uint8, tf.int8),
        "sql_columns": lambda: sql("select a, b from t", tf.int32),
        "sql_syntax": lambda: sql("selec a from t", tf.int32),
        "sql_type": lambda: sql("select a from t", tf.float32),
        "sql_driver": lambda: X.SqlDataset("other", db, "select a from t", (tf.int32,)),
        "dense": lambda: ragged().apply(X.dense_to_sparse_batch(2, [3])),
        "dense_strings": lambda: (
            D.from_tensor_slices([["a", "b"], ["c", ""]]).apply(X.dense_to_sparse_batch(2, [4]))
        ),
        "dense_matrix": lambda: (
            D.from_tensors(np.ones([2, 1], np.float32)).repeat(3).apply(
                X.dense_to_sparse_batch(2, [2, 2])
            )
        ),
        "dense_open": lambda: ragged().apply(X.dense_to_sparse_batch(3, [None])),
        "dense_large": lambda: ragged().apply(X.dense_to_sparse_batch(2, [1])),
        "dense_rank": lambda: ragged().apply(X.dense_to_sparse_batch(2, [3, 3])),
        "dense_pair": lambda: (
            D.range(3).map(lambda v: (v, v)).apply(X.dense_to_sparse_batch(2, []))
        ),
        "sliding": lambda: D.range(7).apply(
            C.sliding_window_batch(3, window_shift=2, window_stride=2)
        ),
        "sliding_stride": lambda: D.range(7).apply(C.sliding_window_batch(3, stride=2)),
        "sliding_pair": lambda: (
            D.range(5).map(lambda v: (v, {"k": [v, v]})).apply(C.sliding_window_batch(2))
        ),
        "sliding_both": lambda: D.range(7).apply(
            C.sliding_window_batch(3, stride=2, window_shift=1)
        ),
        "shape": lambda: ragged().apply(C.assert_element_shape([2])),
        "shape_static": lambda: D.range(3).apply(C.assert_element_shape([2])),
        "shape_unknown": lambda: unknown().apply(C.assert_element_shape([])),
        "shape_wrong": lambda: unknown().apply(C.assert_element_shape([2])),
        "copy": lambda: D.range(3).apply(X.copy_to_device("/cpu:0")),
        "prefetch_to": lambda: D.range(3).apply(X.prefetch_to_device("/cpu:0", 2)),
        "bytes": lambda: D.range(3).apply(X.bytes_produced_stats("t")),
        "latency": lambda: D.range(3).apply(X.latency_stats("t")),
        "optional_value": lambda: D.from_tensors(
            X.Optional.from_value((np.int32(3), "x")).get_value()
        ),
        "optional_none": lambda: D.range(1).map(
            lambda v: X.Optional.none_from_structure(X.TensorStructure(tf.int32, [])).get_value()
        ),
        "optional_in_map": lambda: D.range(3).map(
            lambda v: X.Optional.from_value((v, v + 1)).get_value()
        ),
        "reduce_dataset": lambda: D.from_tensors(
            C.reduce_dataset(
                D.range(5),
                C.Reducer(lambda key: np.int64(1), lambda s, v: s + v, lambda s: s * 10),
            )
        ),
        "resample_same": lambda: D.range(6).apply(
            X.rejection_resample(lambda v: tf.cast(v % 2, tf.int32), [0.5, 0.5], [0.5, 0.5], 3)
        ),
        "resample_one": lambda: (
            D.range(8)
            .apply(
                X.rejection_resample(lambda v: tf.cast(v % 2, tf.int32), [0.0, 1.0], [0.5, 0.5], 3)
            )
            .take(4)
        ),
        "structure": lambda: D.from_tensors(
            [
                X.TensorStructure(tf.int32, [2]).is_compatible_with(tf.zeros([2], tf.int32)),
                isinstance(X.get_structure(D.range(2)), type(X.TensorStructure(tf.int64, []))),
            ]
        ),
    }  # fmt: skip


def main(module, folder):
    warnings.filterwarnings("ignore")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if module == "penstock":
        import penstock as tf
    else:
        import tensorflow as tf

        tf.compat.v1.logging.set_verbosity("ERROR")
    for name, make in pipelines(tf, folder).items():
        text = json.dumps([name, outcome(tf, make)], sort_keys=True)
        print(text.replace(folder, "FOLDER"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
