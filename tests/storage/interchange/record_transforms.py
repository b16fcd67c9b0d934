"""Records what TensorFlow 1.15's graph transforms make of a graph; runs under Python 3.7.

.venv-tf115/bin/python tests/storage/interchange/record_transforms.py
"""

import base64
import json
import os

import numpy as np
import tensorflow as tf
from tensorflow.tools.graph_transforms import TransformGraph

TRANSFORMS = [
    "strip_unused_nodes", "fold_constants", "fold_constants fold_batch_norms", "quantize_weights",
    "quantize_weights(minimum_size=10)", "round_weights(num_steps=4)", "round_weights",
    "obfuscate_names", "merge_duplicate_nodes", "remove_nodes(op=Identity, op=CheckNumerics)",
    "add_default_attributes", "rename_op(old_op_name=Relu, new_op_name=Relu6)",
    "rename_attribute(old_attribute_name=strides, new_attribute_name=stridez)",
    "remove_attribute(attribute_name=padding)", 'set_device(device="/cpu:0")', "remove_device",
]  # fmt: skip


def graph():
    random = np.random.RandomState(0)
    made = tf.Graph()
    with made.as_default():
        x = tf.placeholder(tf.float32, [None, 4, 4, 2], name="x")
        w = tf.constant(random.randn(3, 3, 2, 3).astype("f"), name="w")
        two, three = tf.constant(2.0, name="two"), tf.constant([1.0, 2.0, 3.0], name="three")
        scale = tf.identity(two * three, name="scale")
        c = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME", name="conv")
        m = tf.multiply(c, scale, name="mul")
        m = tf.nn.bias_add(m, tf.constant([1.0, 2.0, 3.0], name="b"), name="ba")
        both = tf.nn.relu(m, name="r1") + tf.nn.relu(m, name="r2")
        i = tf.identity(tf.check_numerics(both, "bad", name="cn"), name="id")
        big = tf.constant(random.uniform(-1, 3, [48, 30]).astype("f"), name="big")
        y = tf.matmul(tf.reshape(i, [-1, 48], name="rs"), big, name="y")
        tf.add(y, 1.0, name="unused")
    return made.as_graph_def()


def described(graph_def):
    """Nodes by name: op, inputs, device, attrs, and of constants the first numbers and the sum."""
    nodes = {}
    for node in graph_def.node:
        numbers = None
        if node.op == "Const":
            array = tf.make_ndarray(node.attr["value"].tensor)
            array = array.view(np.uint8) if array.dtype.fields else array
            numbers = [float(v) for v in np.ravel(array)[:6]] + [float(array.astype("f8").sum())]
        nodes[node.name] = [node.op, list(node.input), node.device, sorted(node.attr), numbers]
    return nodes


def main():
    graph_def = graph()
    made = {
        text: described(
            TransformGraph(graph_def, ["x"], ["y"], text.replace(" fold", "\nfold").split("\n"))
        )
        for text in TRANSFORMS
    }
    record = {"graph": base64.b64encode(graph_def.SerializeToString()).decode(), "made": made}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected_transforms.json")
    with open(path, "w") as file:
        json.dump(record, file, indent=0, sort_keys=True)


if __name__ == "__main__":
    main()
