"""``tf.compat.v2``: programs by place and by name; run under TensorFlow 1.15 as well."""

import numpy as np

X = np.arange(6, dtype=np.float32).reshape(2, 3)
IDS = np.array([1, 0, 1], np.int32)
# Name of a function to arguments in the second API's order.
CALLS = {
    "argmax": [X, 1, "int32", "a"],
    "boolean_mask": [X, [True, False, True], 1, "a"],
    "constant": [X, "float32", [3, 2], "a"],
    "expand_dims": [X, 1, "a"],
    "gather": [X, IDS, None, 1, 0, "a"],
    "gather_nd": [X, [[1, 2]], 0, "a"],
    "norm": [X, 1, 1, True, "a"],
    "ones_like": [X, "int32", "a"],
    "pad": [X, [[1, 1], [0, 2]], "CONSTANT", 7, "a"],
    "reduce_all": [X > 0, 1, True, "a"],
    "reduce_any": [X > 4, 1, True, "a"],
    "reduce_logsumexp": [X, 1, True, "a"],
    "reduce_max": [X, 1, True, "a"],
    "reduce_mean": [X, 1, True, "a"],
    "reduce_min": [X, 1, True, "a"],
    "reduce_prod": [X, 1, True, "a"],
    "reduce_sum": [X, 1, True, "a"],
    "shape": [X, "int64", "a"],
    "size": [X, "int64", "a"],
    "squeeze": [X[:, :, None], [2], "a"],
    "transpose": [X, [1, 0], False, "a"],
    "zeros_like": [X, "int32", "a"],
    "math.argmin": [X, 0, "int32", "a"],
    "math.reduce_sum": [X, 0, False, "a"],
    "nn.conv2d": [X.reshape(1, 2, 3, 1), X.reshape(2, 3, 1, 1), 1, "SAME", "NHWC", None, "a"],
    "nn.embedding_lookup": [[X, X + 10], IDS, None, "a"],
    "nn.l2_normalize": [X, 1, 1e-6, "a"],
    "nn.log_softmax": [X, 0, "a"],
    "nn.softmax": [X, 0, "a"],
    "nn.sigmoid_cross_entropy_with_logits": [X, X, "a"],
    "nn.sparse_softmax_cross_entropy_with_logits": [IDS[:2], X, "a"],
    "strings.length": [["caf\u00e9"], "UTF8_CHAR", "a"],
    "strings.substr": [["caf\u00e9s"], 3, 2, "UTF8_CHAR", "a"],
    "strings.to_hash_bucket": [["a", "b"], 10, "a"],
    "where": [X > 2, X, X[:, :1], "a"],
    "reverse_sequence": [X, [2, 1], 1, 0, "a"],
    "space_to_batch": [X.reshape(1, 2, 3, 1), [2, 1], [[0, 0], [0, 0]], "a"],
    "batch_to_space": [X.reshape(2, 1, 3, 1), [2, 1], [[0, 0], [0, 0]], "a"],
    "linalg.norm": [X, 2, 1, True, "a"],
    "linalg.l2_normalize": [X, 1, 1e-6, "a"],
    "math.bincount": [IDS, None, 3, None, "float32"],
    "math.confusion_matrix": [IDS, IDS[::-1].copy(), 2, None, "float32", "a"],
    "math.count_nonzero": [X, 1, True, "int32", "a"],
    "math.in_top_k": [IDS[:2], X, 1, "a"],
    "math.log_softmax": [X, 0, "a"],
    "math.softmax": [X, 0, "a"],
    "nn.avg_pool": [X.reshape(1, 2, 3, 1), 2, 1, "SAME", "NHWC", "a"],
    "nn.avg_pool2d": [X.reshape(1, 2, 3, 1), 2, 1, "SAME", "NHWC", "a"],
    "nn.conv1d": [X.reshape(1, 2, 3), X.reshape(1, 3, 2), 1, "SAME", "NWC", None, "a"],
    "nn.conv2d_transpose": [
        X.reshape(1, 2, 3, 1), X.reshape(2, 3, 1, 1), [1, 2, 3, 1], 1, "SAME", "NHWC", None, "a",
    ],
    "nn.conv3d_transpose": [
        X.reshape(1, 1, 2, 3, 1), X.reshape(1, 2, 3, 1, 1), [1, 1, 2, 3, 1], 1, "SAME", "NDHWC",
        None, "a",
    ],
    "nn.convolution": [X.reshape(1, 2, 3), X.reshape(1, 3, 2), 1, "SAME", None, None, "a"],
    "nn.crelu": [X - 2, -1, "a"],
    "nn.depth_to_space": [X[:, :2].reshape(1, 1, 1, 4), 2, "NHWC", "a"],
    "nn.depthwise_conv2d": [
        X.reshape(1, 2, 3, 1), X.reshape(2, 3, 1, 1), [1, 1, 1, 1], "SAME", None, None, "a",
    ],
    "nn.dilation2d": [
        X.reshape(1, 2, 3, 1), X.reshape(2, 3, 1), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1], "a",
    ],
    "nn.erosion2d": [
        X.reshape(1, 2, 3, 1), X.reshape(2, 3, 1), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1], "a",
    ],
    "nn.max_pool": [X.reshape(1, 2, 3, 1), 2, 1, "SAME", "NHWC", "a"],
    "nn.pool": [X.reshape(1, 2, 3, 1), [2, 2], "MAX", [1, 1], "SAME", None, None, "a"],
    "nn.separable_conv2d": [
        X.reshape(1, 2, 3, 1), X.reshape(2, 3, 1, 1), X[:1, :2].reshape(1, 1, 1, 2), [1, 1, 1, 1],
        "SAME", None, None, "a",
    ],
    "nn.softmax_cross_entropy_with_logits": [X, X, -1, "a"],
    "nn.weighted_cross_entropy_with_logits": [X, X, 2.0, "a"],
    "sparse.segment_sum": [X, [0, 1], [0, 0], 2, "a"],
    "strings.reduce_join": [["a", "b"], 0, True, "-", "a"],
    "strings.to_number": [["1", "2.5"], "float32", "a"],
    "tuple": [[X], None, "a"],
    "multiply": [X, X, "a"],
    "reshape": [X, [3, 2], "a"],
    "cast": [X, "int32", "a"],
}  # fmt: skip


def answers(tf):
    """The value and the nodes' types of each call."""
    found = {}
    for name, args in CALLS.items():
        function = tf.compat.v2
        for part in name.split("."):
            function = getattr(function, part)
        with tf.Graph().as_default() as graph, tf.Session() as session:
            value = np.asarray(session.run(function(*args)))
            types = sorted(op.type for op in graph.get_operations() if op.type != "Const")
        texts = value.dtype == object
        shown = [str(each) for each in value.ravel()] if texts else value.tolist()
        found[name] = [shown, str(value.dtype), types]
    return found


def find(api, name):
    """What an API has under a name with dots."""
    for part in name.split("."):
        api = getattr(api, part)
    return api


def signature(tf, name):
    """The arguments of a function of the second API, as text."""
    import inspect

    text = str(inspect.signature(find(tf.compat.v2, name)))
    return text.replace("<UnconnectedGradients.NONE: 'none'>", "'none'")


def main():
    """Prints the answers, and which names of the command line the first API has otherwise.

    The names behind ``--`` are those whose signatures are printed.
    """
    import json
    import sys

    import tensorflow as tf

    names = sys.argv[1:]
    shared, adapted = names[: names.index("--")], names[names.index("--") + 1 :]
    other = [n for n in shared if find(tf, n) is not find(tf.compat.v2, n)]
    print(json.dumps([answers(tf), other, {n: signature(tf, n) for n in adapted}]))


if __name__ == "__main__":
    main()
