"""Runs pickled jobs in TensorFlow: ``python tf_runner.py jobs.pickle results.pickle``.

The same file serves TensorFlow 2.21 (graph mode) and 1.15 (Python 3.7).  Ops are built from their
op types by TensorFlow's own op-def library, so every registered op can be run, those on reference
variables included.  Each result is written as soon as it is known: if an op ends the process, the
caller sees which one and goes on with the next.
"""

import os
import pickle
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import jobs
import numpy as np
import tensorflow as tensorflow
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.framework import op_def_library, op_def_registry

tf1 = tensorflow.compat.v1
NEW = not tensorflow.__version__.startswith("1.")


def op_defs():
    """All op defs of TensorFlow 1.15 by name."""
    return op_def_registry.get_registered_ops()


class TensorFlow:
    """The backend of ``jobs`` for TensorFlow."""

    tf = tf1

    def __init__(self):
        if NEW:
            tf1.disable_v2_behavior()
            self.apply = op_def_library._apply_op_helper
        else:
            library = op_def_library.OpDefLibrary()
            library.add_op_list(op_def_pb2.OpList(op=list(op_defs().values())))
            self.apply = library._apply_op_helper
        rewrite = tf1.GraphOptions(optimizer_options=tf1.OptimizerOptions(opt_level=-1))
        rewrite.rewrite_options.disable_meta_optimizer = True
        self.config = tf1.ConfigProto(
            intra_op_parallelism_threads=1,
            inter_op_parallelism_threads=1,
            operation_timeout_in_ms=10000,
            graph_options=rewrite,
        )

    def op_def(self, op):
        """The op def, or None."""
        return op_def_registry.get(op) if NEW else op_defs().get(op)

    def graph(self, op):
        """A new graph, of a version that still allows ``op`` if it is one of those removed."""
        graph, op_def = tf1.Graph(), self.op_def(op)
        if op_def is not None and op_def.deprecation.version:
            old = tf1.GraphDef()
            old.versions.producer = op_def.deprecation.version - 1
            with graph.as_default():
                tf1.import_graph_def(old, name="")
        return graph

    def make(self, op, inputs, attrs):
        """One node by op type; attrs not given take their defaults."""
        op_def = self.op_def(op)
        if op_def is None:
            raise LookupError(f"op type {op} is not registered")
        keywords = dict(zip([arg.name for arg in op_def.input_arg], inputs))
        inferred = set()
        for arg in op_def.input_arg:
            inferred.update([arg.type_attr, arg.number_attr, arg.type_list_attr])
        for attr in op_def.attr:
            if attr.name not in inferred:
                value = attrs.get(attr.name)
                if attr.type == "tensor" and value is not None:
                    value = tf1.make_tensor_proto(value, dtype=attrs.get("dtype"))
                keywords[attr.name] = value
        return self.apply(op, **keywords)[2]

    def to_feed(self, array, dtype):
        """Array of the dtype's own NumPy type."""
        return array.astype(tf1.as_dtype(dtype).as_numpy_dtype)

    def to_const(self, array, dtype):
        """The same for a constant's value."""
        return array if dtype == "string" else self.to_feed(array, dtype)

    def from_fetch(self, value, dtype):
        """Fetched value as an array; bfloat16 as float32."""
        # A string scalar is fetched as bytes, of which NumPy would drop zeros at the end.
        array = np.asarray(value, object if isinstance(value, bytes) else None)
        return array.astype(np.float32) if dtype == "bfloat16" else array

    def session(self):
        """A session for the default graph."""
        return tf1.Session(config=self.config)


def main(source, target):
    """Runs the jobs of the file ``source``; appends one pickle a job to ``target``."""
    with open(source, "rb") as file:
        work = pickle.load(file)
    backend = TensorFlow()
    with open(target, "ab") as file:
        for job in work:
            result = jobs.run_job(backend, job)
            result["known_op"] = backend.op_def(job["op"]) is not None
            pickle.dump(result, file, protocol=4)
            file.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
