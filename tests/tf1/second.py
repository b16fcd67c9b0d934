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


def main():
    """Prints the answers, and which names of the command line the first API has otherwise."""
    import json
    import sys

    import tensorflow as tf

    def find(api, name):
        for part in name.split("."):
            api = getattr(api, part)
        return api

    other = [n for n in sys.argv[1:] if find(tf, n) is not find(tf.compat.v2, n)]
    print(json.dumps([answers(tf), other]))


if __name__ == "__main__":
    main()
