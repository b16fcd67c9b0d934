"""Programs of ``tf.train.sdca_*`` (``recorded``).

Examples are visited in an order drawn anew, so that several of them give one of several results:
these programs go through the orders, an example a pass, and say whether a whole pass is one.
"""

from itertools import permutations

import numpy as np

from tests.contrib.recorded import nodes, refused

LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
LABELS = [1.0, 0.0, 1.0]
WEIGHTS = [1.0, 2.0, 0.5]
DENSE = np.array([[1.0, -0.5], [0.25, 2.0], [-1.5, 0.75]], np.float32)
EXAMPLES = np.array([0, 0, 1, 2, 2])
FEATURES = np.array([10, 30, 10, 20, 30])
VALUES = np.array([0.5, -1.0, 2.0, 1.0, 0.25], np.float32)
INDICES = [30, 10, 20]


def _pass(tf, sess, state, sparse, dense, which=(0, 1, 2), **said):
    """State and deltas after a pass over some of the examples."""
    which = list(which)
    taken = np.isin(EXAMPLES, which)
    given = {
        "sparse_example_indices": [np.searchsorted(which, EXAMPLES[taken])],
        "sparse_feature_indices": [FEATURES[taken]],
        "sparse_feature_values": [VALUES[taken]],
        "dense_features": [DENSE[which]],
        "example_weights": np.take(WEIGHTS, which),
        "example_labels": np.take(LABELS, which),
        "sparse_indices": [INDICES],
        "sparse_weights": [sparse],
        "dense_weights": [dense],
        "example_state_data": state[which],
        "loss_type": "squared_loss",
        "l1": 0.125,
        "l2": 1.5,
        "num_loss_partitions": 1,
        "num_inner_iterations": 1,
        "adaptative": False,
    }
    given.update(said)
    found = sess.run(tf.train.sdca_optimizer(**given))
    # TensorFlow writes into the array that it was fed.
    return [np.array(found[0]), *found[1], *found[2]]


def _start():
    return [np.zeros((3, 4), np.float32), np.float32([0.5, -1, 0]), np.float32([0.25, 0.75])]


def _in_order(tf, sess, order, **said):
    """What a pass in this order gives: duals and deltas."""
    parts = said.get("num_loss_partitions", 1)
    state, sparse, dense = _start()
    of_sparse, of_dense = np.zeros_like(sparse), np.zeros_like(dense)
    for example in order:
        now = (sparse + of_sparse * parts, dense + of_dense * parts)
        found = _pass(tf, sess, state, *now, which=[example], **said)
        state[example], of_sparse, of_dense = found[0][0], of_sparse + found[1], of_dense + found[2]
    return np.concatenate([state[:, 0], of_sparse, of_dense])


def _orders(tf, **said):
    """Results in all orders, and whether some passes over all examples were each one of them."""
    with tf.Session() as sess:
        wanted = [_in_order(tf, sess, order, **said) for order in permutations(range(3))]
        seen = []
        for _ in range(4):
            state, sparse, dense = _pass(tf, sess, *_start(), **said)
            found = np.concatenate([state[:, 0], sparse, dense])
            seen.append(any(np.allclose(found, one, 1e-5, 1e-6) for one in wanted))
    return [wanted, seen, state[:, 1:]]


def case_logistic(tf):
    return _orders(tf, loss_type="logistic_loss")


def case_squared_of_two_partitions(tf):
    return _orders(tf, num_loss_partitions=2)


def case_hinge(tf):
    return _orders(tf, loss_type="hinge_loss")


def case_smooth_hinge(tf):
    return _orders(tf, loss_type="smooth_hinge_loss")


def case_poisson(tf):
    return _orders(tf, loss_type="poisson_loss")


def case_ones_where_no_values_are_given(tf):
    with tf.Session() as sess:
        return _pass(tf, sess, *_start(), which=[2], sparse_feature_values=[])


def case_entries_out_of_order_are_nobody_s(tf):
    with tf.Session() as sess:
        which = {"which": [1], "sparse_example_indices": [[0, 2, 0]]}
        entries = {"sparse_feature_indices": [[10, 20, 30]], "sparse_feature_values": [[1, 2, 3]]}
        return _pass(tf, sess, *_start(), **which, **entries)


def case_no_examples(tf):
    with tf.Session() as sess:
        return _pass(tf, sess, *_start(), which=np.empty(0, int))


def case_states_that_are_not_feasible(tf):
    state, sparse, dense = _start()
    state[:] = 3
    found = {}
    with tf.Session() as sess:
        for loss in LOSSES:
            result = _pass(tf, sess, state.copy(), sparse, dense, which=[1], loss_type=loss)
            found[loss] = [str(result[0][0, 2]), result[0][0, 0], result[1], result[2]]
    return found


def case_adaptive(tf):
    """The first half is where it should be; TensorFlow visits the first example all the same."""
    count = 60
    at_best = np.arange(count) < count // 2
    state = np.zeros((count, 4), np.float32)
    found = {}
    with tf.Session() as sess:
        for loss, best in zip(LOSSES, (0.5, 1.0, 1.0, 1.0)):
            state[:, 0] = np.where(at_best, best, 0.0)
            of_all, ones = np.arange(count), np.ones(count)
            made = tf.train.sdca_optimizer(
                [of_all], [of_all], [], [], ones, ones, [of_all], [np.zeros(count)], [], state,
                loss, 0.0, 1.0, 1, 1,
            )  # fmt: skip
            visited = np.array(sess.run(made[0]))[:, 3] > 0
            found[loss] = [visited[at_best], bool(visited[~at_best].mean() > 0.6)]
    return found


def case_fingerprints(tf):
    random = np.random.RandomState(5)
    texts = np.array([random.bytes(size) for size in range(201)], object)
    with tf.Session() as sess:
        return [str(one) for one in sess.run(tf.train.sdca_fprint(texts)).ravel()]


def case_shrinking(tf):
    weights = [tf.Variable([1.0, -0.125, 3.0, 0.0, -3.0]), tf.Variable([[0.5]])]
    shrink = tf.train.sdca_shrink_l1(weights, l1=0.5, l2=2.0)
    with tf.Session() as sess:
        early = refused(lambda: sess.run(shrink), "Attempting to use uninitialized value Variable")
        sess.run(tf.global_variables_initializer())
        sess.run(shrink)
        return [early, sess.run(weights), nodes(tf), shrink.colocation_groups()]


def case_shapes(tf):
    state, dense = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, 2])
    made = tf.train.sdca_optimizer(
        [[0]], [[0]], [], [dense], [1.0], [1.0], [[0]], [[2.0]], [[1.0, 2.0]], state,
        "squared_loss", 0.0, 1.0, 1, 1,
    )  # fmt: skip
    found = [made[0], made[1][0], made[2][0]]
    node = made[0].op
    said = [node.get_attr(a) for a in ("adaptative", "num_sparse_features_with_values", "l2")]
    prints = tf.train.sdca_fprint(tf.placeholder(tf.string))
    fields = list(made._fields)
    return [[t.name, t.shape.as_list()] for t in found + [prints]] + [said, fields, nodes(tf)]


# What is wrong, and TensorFlow's words.
WRONG = [
    ({"example_labels": [0.5, 0, 1], "loss_type": "hinge_loss"}, "Only labels of 0.0 or 1.0 are"),
    ({"example_labels": [-1, 0, 1], "loss_type": "poisson_loss"}, "Only non-negative labels can"),
    ({"sparse_feature_indices": [[10, 31, 10, 20, 30]]}, "indices out of valid range: 31"),
    ({"sparse_feature_indices": [[10, 10, 10, 20, 30]]}, "Duplicate index in sparse vector."),
    ({"dense_features": [np.ones((3, 3))]}, "More dense features than we have parameters for: 3"),
    ({"example_state_data": np.zeros((3, 3))}, "Expected shape [3,4] for example_state_data, got"),
    ({"sparse_weights": []}, "List argument 'sparse_weights' to 'sdca_optimizer' Op with length 0"),
    ({"dense_weights": []}, "must match length 1 of argument 'dense_features'."),
    ({"dense_features": 1}, "Expected list for 'dense_features' argument to 'sdca_optimizer' Op"),
    ({"loss_type": "loss"}, "loss_type"),
    ({"num_loss_partitions": 0}, "'num_loss_partitions' of 'SdcaOptimizer' Op passed 0 less than"),
]


def case_what_is_refused(tf):
    found = []
    with tf.Session() as sess:
        for said, words in WRONG:
            ask = lambda said=said: _pass(tf, sess, *_start(), **said)  # noqa: E731
            found.append(refused(ask, words))
    variable = tf.Variable([1.0])
    found.append(refused(lambda: tf.train.sdca_shrink_l1(variable, 1.0, 1.0), "Expected list for"))
    plain = [tf.constant([1.0])]
    found.append(refused(lambda: tf.train.sdca_shrink_l1(plain, 1.0, 1.0)))
    found.append(refused(lambda: tf.train.sdca_fprint("a"), "Shape must be rank 1 but is rank 0"))
    return found
