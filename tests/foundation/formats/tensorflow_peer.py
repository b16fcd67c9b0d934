"""The half that runs in TensorFlow: `write DIRECTORY` and `read DIRECTORY`.

`read` takes what Penstock wrote ("ours") and compares with the values that `write` kept.  For
Python 3.7 as well.
"""

import os
import pickle
import sys

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
ONE = tf.__version__.startswith("1.")
if not ONE:
    tf1.disable_v2_behavior()
QUANTIZED = {"qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16,
             "qint32": np.int32}  # fmt: skip
DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
          "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]  # fmt: skip
V1_DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
             "complex64", "complex128"]  # fmt: skip


def values(names):
    """Arrays of a few values each; bfloat16 as float32, quantized ones as their integers."""
    rng = np.random.RandomState(0)
    found = {}
    for name in names:
        numpy_type = {"bfloat16": "float32"}.get(name, name)
        found[name] = rng.randint(0, 2 if name == "bool" else 100, (3, 4)).astype(numpy_type)
    found["strings"] = np.array([b"", b"a\0b", b"x" * 300], dtype=object)
    found["scalar"] = np.float32(2.5)
    found["empty"] = np.zeros((0, 2), np.float32)
    found["zeros"] = np.zeros((100, 100), np.float32)  # what snappy makes short
    return found


def constant(name, value):
    if name == "bfloat16":
        return tf.cast(tf.constant(value), tf.bfloat16)
    if name in QUANTIZED:
        return tf.bitcast(tf.constant(value), getattr(tf, name))
    return tf.constant(value)


def write(directory):
    with tf.Graph().as_default(), tf1.Session() as session:
        v2 = values(DTYPES)
        for name, numpy_type in QUANTIZED.items():
            v2[name] = np.arange(5).astype(numpy_type)
        names = sorted(v2)
        tensors = [constant(n, v2[n]) for n in names]
        whole = np.arange(70, dtype=np.float32).reshape(10, 7)
        cut = [("p", "10 7 0,4:-", whole[:4]), ("p", "10 7 4,6:0,3", whole[4:, :3]),
               ("p", "10 7 4,6:3,4", whole[4:, 3:])]  # fmt: skip
        session.run(tf.raw_ops.SaveV2(
            prefix=os.path.join(directory, "v2"),
            tensor_names=names + [c[0] for c in cut],
            shape_and_slices=[""] * len(names) + [c[1] for c in cut],
            tensors=tensors + [tf.constant(c[2]) for c in cut]))  # fmt: skip
        v1 = values(V1_DTYPES)
        names = sorted(n for n in v1 if n != "empty")
        session.run(tf.raw_ops.SaveSlices(
            filename=os.path.join(directory, "v1"),
            tensor_names=names + [c[0] for c in cut],
            shapes_and_slices=[""] * len(names) + [c[1] for c in cut],
            data=[constant(n, v1[n]) for n in names]
            + [tf.constant(c[2]) for c in cut]))  # fmt: skip
        v2["p"] = whole
        v1["p"] = whole
        del v1["empty"]
    for compression in ("", "GZIP", "ZLIB"):
        options = tf1.python_io.TFRecordOptions(
            getattr(tf1.python_io.TFRecordCompressionType, compression or "NONE")
        )
        with tf1.python_io.TFRecordWriter(
            os.path.join(directory, "records" + compression), options
        ) as writer:
            for i in range(200):
                writer.write(b"record %d" % i * i)
    with open(os.path.join(directory, "values.pickle"), "wb") as stream:
        pickle.dump({"v1": v1, "v2": v2}, stream, protocol=2)


def read(directory):
    with open(os.path.join(directory, "values.pickle"), "rb") as stream:
        wanted = pickle.load(stream)
    with tf.Graph().as_default(), tf1.Session() as session:
        for form in ("v2", "v1"):
            for name, value in sorted(wanted[form].items()):
                kind = {"strings": "string", "scalar": "float32", "empty": "float32",
                        "zeros": "float32", "p": "float32"}.get(name, name)  # fmt: skip
                dtype = getattr(tf, kind)
                path = os.path.join(directory, "ours_" + form)
                if form == "v2":
                    tensor = tf.raw_ops.RestoreV2(
                        prefix=path, tensor_names=[name], shape_and_slices=[""], dtypes=[dtype]
                    )[0]
                else:
                    tensor = tf.raw_ops.RestoreSlice(
                        file_pattern=path, tensor_name=name, shape_and_slice="", dt=dtype
                    )
                if kind == "bfloat16":
                    tensor = tf.cast(tensor, tf.float32)
                if kind in QUANTIZED:
                    tensor = tf.bitcast(tensor, tf.as_dtype(QUANTIZED[kind]))
                found = session.run(tensor)
                np.testing.assert_array_equal(found, value, err_msg=form + " " + name)
                assert found.shape == np.shape(value), (form, name, found.shape)
        slices = tf.raw_ops.RestoreV2(
            prefix=os.path.join(directory, "ours_v2"), tensor_names=["p"],
            shape_and_slices=["10 7 2,5:1,4"], dtypes=[tf.float32])[0]  # fmt: skip
        np.testing.assert_array_equal(session.run(slices), wanted["v2"]["p"][2:7, 1:5])
    for compression in ("", "GZIP", "ZLIB"):
        options = tf1.python_io.TFRecordOptions(
            getattr(tf1.python_io.TFRecordCompressionType, compression or "NONE")
        )
        path = os.path.join(directory, "ours_records" + compression)
        found = list(tf1.python_io.tf_record_iterator(path, options))
        assert found == [b"record %d" % i * i for i in range(200)], compression


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](sys.argv[2])
