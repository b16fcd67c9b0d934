"""Makes the calls of a file, in Penstock or in TensorFlow 1.15: ``runner.py cases results``.

A case is a dict: ``id``; ``op``: the function's name; ``args``, ``kwargs``: how to make each
argument; ``values``: whether the values of a run are wanted; ``ordered``, where it stands there:
the last output is run first (an update, before what it updates).

The result says either which error was raised and whether by the call (``build``) or by the run
(``run``), or of each output its dtype, static shape, constant value and value.

Written for Python 3.7 as well.  The cases run in a process that may die (``edge_runner.py`` of the
conformance tests guards it).
"""

import operator
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "conformance"))

import edge_runner  # noqa: E402
import numpy as np  # noqa: E402
from jobs import pack, unpack  # noqa: E402

# Outputs that are larger are compared by shape and dtype alone.
LARGEST = 100000
ELEMENTS = 10

# What a row's F("name") names: made with the module that is under test.
FUNCTIONS = {
    "double": lambda tf: lambda x: x * 2,
    "sum": lambda tf: lambda a, x: a + x,
    "positive": lambda tf: lambda x: tf.reduce_all(x > 0),
    "less": lambda tf: lambda i: i < 5,
    "next": lambda tf: lambda i: i + 1,
    "one": lambda tf: lambda: tf.constant(1.0),
    "two": lambda tf: lambda: tf.constant(2.0),
    "numpy": lambda tf: lambda x: x + 1,
    "slices": lambda tf: lambda x: tf.data.Dataset.from_tensors(x).repeat(2),
    "key": lambda tf: lambda x: tf.cast(tf.reduce_sum(x) > 0, tf.int64),
    "pairs": lambda tf: lambda key, rows: rows.batch(2),
    "apply": lambda tf: lambda rows: rows.map(lambda x: x + x),
    "hann": lambda tf: tf.signal.hann_window,
}


class Feeds:
    """What a case feeds, and whether it made variables."""

    def __init__(self, tf):
        self.tf, self.feeds = tf, {}

    def array(self, spec):
        return unpack(spec["v"])

    def tensor(self, spec):
        """A constant, a placeholder, a NumPy array; bfloat16 by a cast."""
        tf, array = self.tf, self.array(spec)
        dtype = spec["dtype"]
        made = "float32" if dtype == "bfloat16" else dtype
        if spec["k"] == "np" and dtype != "bfloat16":
            return array
        if spec["k"] == "feed":
            tensor = tf.placeholder(made, spec["static"])
            self.feeds[tensor] = array
        else:
            tensor = tf.constant(array, made, shape=array.shape)
        return tf.cast(tensor, tf.bfloat16) if dtype == "bfloat16" else tensor

    def variable(self, spec):
        initial = self.array(spec)
        dtype = "float32" if spec["dtype"] == "bfloat16" else spec["dtype"]
        resource = spec["how"] == "resource"
        return self.tf.Variable(
            self.tf.constant(initial, dtype, shape=initial.shape), use_resource=resource
        )

    def make(self, spec):
        """The argument that a spec says."""
        kind, tf = spec["k"], self.tf
        if kind == "py":
            return spec["v"]
        if kind in ("const", "feed", "np"):
            return self.tensor(spec)
        if kind == "variable":
            return self.variable(spec)
        if kind == "function":
            return FUNCTIONS[spec["v"]](tf)
        if kind == "dtype":
            return getattr(tf, spec["v"]) if isinstance(spec["v"], str) else spec["v"]
        parts = [self.make(part) for part in spec["parts"]]
        if kind in ("list", "tuple"):
            return parts if kind == "list" else tuple(parts)
        if kind == "sparse":
            return tf.SparseTensor(*parts)
        if kind == "dataset":
            return tf.data.Dataset.from_tensor_slices(parts[0])
        return parts[0]  # maybe


def function(tf, name):
    """The function of a name: of ``tf``, or Python's operator."""
    if name.startswith("operator:"):
        return getattr(operator, name[9:])
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


def is_dataset(tf, value):
    """Whether it is one; what ``unbatch`` returns is of another base in TensorFlow 1.15."""
    return isinstance(value, tf.data.Dataset) or type(value).__name__ == "_UnbatchDataset"


def unnested(tf, dataset):
    """A dataset of datasets as one of their elements in batches, which can be compared."""
    if type(tf.data.get_output_classes(dataset)).__name__ != "DatasetSpec":
        return dataset
    return dataset.flat_map(lambda part: part.batch(100))


def flatten(tf, value):
    """The leaves of what a function returned."""
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    if isinstance(value, tf.IndexedSlices):
        return [value.values, value.indices, value.dense_shape]
    if isinstance(value, tf.Variable):
        return [value.value()]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in flatten(tf, value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flatten(tf, part)]
    return [value]


def shape_of(shape):
    """A static shape as a list with None for unknown sizes; None for unknown rank."""
    return None if shape.ndims is None else shape.as_list()


def known(tf, tensor):
    """What ``get_static_value`` says: None, a packed array, or the error's class."""
    try:
        value = tf.get_static_value(tensor)
    except Exception as error:
        return {"raises": type(error).__name__}
    return None if value is None else pack(plain(value, tensor.dtype.base_dtype.name))


def plain(value, dtype):
    """An array of a dtype that every NumPy has."""
    array = np.asarray(value, object if isinstance(value, bytes) else None)
    if dtype == "bfloat16" or array.dtype.kind == "V":
        return array.astype(np.float32)
    if array.dtype.kind not in "biufcOSU":  # quantized: a record of one field
        return array.astype(np.int64)
    return array


def describe(tf, leaf):
    """What is known of an output before a run."""
    if isinstance(leaf, tf.Tensor):
        return {
            "kind": "tensor",
            "dtype": leaf.dtype.base_dtype.name,
            "static": shape_of(leaf.shape),
            "constant": known(tf, leaf),
        }
    if isinstance(leaf, tf.Operation):
        return {"kind": "operation"}
    if isinstance(leaf, tf.TensorShape):
        return {"kind": "value", "value": repr(shape_of(leaf))}
    if isinstance(leaf, tf.DType):
        return {"kind": "value", "value": leaf.name}
    if isinstance(leaf, np.ndarray):
        return {"kind": "array", "value": pack(leaf)}
    if isinstance(leaf, np.generic):  # whose text is another in every NumPy
        return {"kind": "value", "value": repr(leaf.item())}
    if leaf is None or isinstance(leaf, (bool, int, float, str, bytes)):
        return {"kind": "value", "value": repr(leaf)}
    return {"kind": type(leaf).__name__}


def config(tf):
    """One thread, no optimizer, and an end to what would wait for ever."""
    rewrite = tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))
    if "penstock" not in sys.modules:
        rewrite.rewrite_options.disable_meta_optimizer = True
    return tf.ConfigProto(
        intra_op_parallelism_threads=1,
        inter_op_parallelism_threads=1,
        operation_timeout_in_ms=10000,
        graph_options=rewrite,
    )


def failed(error, stage):
    """An error as plain data."""
    bases = [c.__name__ for c in type(error).__mro__]
    return {
        "class": type(error).__name__,
        "bases": bases,
        "stage": stage,
        "message": str(error)[:600],
    }


def elements(tf, session, dataset, feeds):
    """The first elements of a dataset, each a list of arrays."""
    iterator = tf.data.make_initializable_iterator(dataset)
    following = flatten(tf, iterator.get_next())
    session.run(iterator.initializer, feeds)
    rows = []
    try:
        while len(rows) < ELEMENTS:
            rows.append([pack(np.asarray(v)) for v in session.run(following)])
    except tf.errors.OutOfRangeError:
        rows.append([])
    return rows


def fetch(session, leaves, feeds, ordered):
    """The values of a run; ``ordered``: of runs of the later outputs before the earlier."""
    if not ordered:
        return session.run(leaves, feeds) if leaves else []
    return [session.run(leaf, feeds) for leaf in reversed(leaves)][::-1]


def run(tf, leaves, outputs, feeds, values, ordered):
    """Runs what a call made; adds the values to ``outputs``."""
    with tf.Session(config=config(tf)) as session:
        if tf.global_variables() or tf.local_variables():
            init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
            session.run(init, feeds)
        for leaf, output in zip(leaves, outputs):
            if is_dataset(tf, leaf):
                found = elements(tf, session, leaf, feeds)
                if values:
                    output["elements"] = found
        numbers = [
            n
            for n, o in enumerate(outputs)
            if o["kind"] in ("tensor", "operation")
            and o.get("dtype") not in ("resource", "variant")
        ]
        found = fetch(session, [leaves[n] for n in numbers], feeds, ordered)
        for number, value in zip(numbers, found):
            output = outputs[number]
            if output["kind"] == "operation":
                continue
            array = plain(value, output["dtype"])
            output["shape"] = list(array.shape)
            if values and array.size <= LARGEST:
                output["value"] = pack(array)


def run_case(tf, case):
    """Makes one call in a graph of its own, and runs it."""
    result = {"id": case["id"]}
    # Left alone, TensorFlow takes XLA's kernels for dtypes that the CPU's do not have.
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        tf.set_random_seed(1)
        feeds = Feeds(tf)
        try:
            called = function(tf, case["op"])
        except AttributeError:
            result["absent"] = True
            return result
        try:
            args = [feeds.make(spec) for spec in case["args"]]
            kwargs = {key: feeds.make(spec) for key, spec in case["kwargs"].items()}
        except Exception as error:
            result["error"] = failed(error, "argument")
            return result
        try:
            returned = called(*args, **kwargs)
            nested = is_dataset(tf, returned)
            leaves = [unnested(tf, returned)] if nested else flatten(tf, returned)
            outputs = [describe(tf, leaf) for leaf in leaves]
        except Exception as error:
            result["error"] = failed(error, "build")
            return result
        for leaf, output in zip(leaves, outputs):
            if is_dataset(tf, leaf):
                types = flatten(tf, tf.data.get_output_types(leaf))
                shapes = flatten(tf, tf.data.get_output_shapes(leaf))
                output.update(
                    kind="dataset",
                    types=[t.name for t in types],
                    shapes=[shape_of(s) for s in shapes],
                )
        try:
            run(tf, leaves, outputs, feeds.feeds, case["values"], "ordered" in case)
        except Exception as error:
            result["error"] = failed(error, "run")
        result["outputs"] = outputs
    return result


def no_array(tensor, dtype=None):
    """For ``tf.Tensor.__array__``: NumPy 1.20 lets its error through, and the TensorFlow of a year
    before catches TypeErrors only."""
    raise TypeError("Cannot convert a symbolic Tensor to a numpy array.")


def load():
    """The module under test, ``run_case``, and that every function may be asked for."""
    try:
        import tensorflow as tf

        tf.logging.set_verbosity(tf.logging.FATAL)
        tf.Tensor.__array__ = no_array
    except ImportError:
        sys.path.insert(0, os.path.join(HERE, "..", ".."))
        import penstock as tf
    return tf, run_case, lambda name: True


if __name__ == "__main__":
    edge_runner.load = load
    edge_runner.SECONDS = 60.0
    edge_runner.main(sys.argv[1], sys.argv[2])
