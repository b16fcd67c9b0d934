"""Programs of ``tf.contrib``'s ``losses``, ``nn``, ``util`` and ``stateless`` (``recorded``)."""

import numpy as np

from tests.contrib.recorded import names, nodes, refused, values

PREDICTIONS = np.random.RandomState(3).uniform(0.1, 0.9, [3, 2]).astype("float32")
LABELS = np.array([[0, 1], [1, 0], [1, 0]], "float32")
WEIGHTS = [1.0, 0.5, [1.0, 0.0, 2.0], [[1.0], [0.5], [0.0]], [[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]]


def normal(*shape):
    return np.random.RandomState(sum(shape)).normal(size=shape).astype("float32")


def case_losses(tf):
    losses = tf.contrib.losses
    x, y = tf.constant(PREDICTIONS), tf.constant(LABELS)
    made = []
    for function in (losses.absolute_difference, losses.mean_squared_error, losses.log_loss,
                     losses.sigmoid_cross_entropy):  # fmt: skip
        made += [function(x, y, weights) for weights in WEIGHTS]
    for weights in WEIGHTS[:3]:
        made.append(losses.softmax_cross_entropy(x, y, weights, label_smoothing=0.1))
        made.append(losses.sparse_softmax_cross_entropy(x, tf.constant([0, 1, 1]), weights))
        made.append(losses.cosine_distance(x, y, 1, weights))
        made.append(losses.mean_pairwise_squared_error(x, y, weights))
    made.append(losses.sigmoid_cross_entropy(x, y, label_smoothing=0.2))
    made.append(losses.hinge_loss(x, y))
    made.append(losses.compute_weighted_loss(x, 2.0))
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(5.0, name="decay"))
    losses.add_loss(tf.constant(1.0, name="own"))
    found = [names(losses.get_losses()), names(losses.get_losses("log_loss"))]
    found.append(names(losses.get_regularization_losses()))
    made += [losses.get_total_loss(), losses.get_total_loss(False, name="bare")]
    found += [t.name for t in made] + values(tf, made)
    found.append(refused(lambda: losses.cosine_distance(x, y), "You must specify 'axis'."))
    found.append(refused(lambda: losses.log_loss(x, tf.constant([1.0]))))
    fed = tf.placeholder(tf.float32, None)
    found.append(refused(lambda: losses.compute_weighted_loss(fed), "ndims cannot be None"))
    return found


def case_flipped_cross_entropies(tf):
    nn = tf.contrib.nn
    x, y = tf.constant(PREDICTIONS), tf.constant(LABELS)
    made = [
        nn.deprecated_flipped_softmax_cross_entropy_with_logits(x, y),
        nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(x, tf.constant([0, 1, 1])),
        nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(x, y),
    ]
    return values(tf, made)


def case_alpha_dropout(tf):
    nn = tf.contrib.nn
    x = tf.constant(normal(200, 200))
    dropped = values(tf, nn.alpha_dropout(x, 0.7, seed=3))
    found = [bool(abs(dropped.mean()) < 0.02), bool(abs(dropped.var() - 1) < 0.02)]
    least, times = np.unique(dropped, return_counts=True)
    found += [least[times.argmax()], bool(abs(times.max() / 40000.0 - 0.3) < 0.02)]
    found.append(nn.alpha_dropout(x, 1.0) is x)
    found.append(refused(lambda: nn.alpha_dropout(x, 0.0), "keep_prob must be a scalar tensor"))
    return found


def case_scaled_softplus(tf):
    x = tf.constant([-2.0, 0.5, 3.0])
    alpha = tf.constant(0.7)
    made = tf.contrib.nn.scaled_softplus(x, alpha)
    clipped = tf.contrib.nn.scaled_softplus(x, alpha, clip=2.0)
    grads = tf.gradients(made, [x, alpha]) + tf.gradients(clipped, [x, alpha])
    return values(tf, [made, clipped] + grads)


def case_sampled_losses(tf):
    nn = tf.contrib.nn
    weights = tf.constant(normal(6, 4))
    biases = tf.constant(normal(6))
    inputs = tf.constant(normal(3, 4))
    labels = tf.constant([[0], [2], [5]], tf.int64)
    drawn = (tf.constant([1, 2, 3], tf.int64), tf.ones([3, 1]), tf.constant([0.5, 0.6, 0.7]))

    def rank(sampled, resampled, strategy="div"):
        return nn.rank_sampled_softmax_loss(
            weights, biases, labels, inputs, sampled, resampled, 6, 1, drawn, 2.0, True, strategy
        )

    made = [
        nn.sampled_sparse_softmax_loss(weights, biases, labels, inputs, 3, 6, drawn),
        rank(3, 2),
    ]
    found = values(tf, made)
    found.append(refused(lambda: rank(7, 2), "cannot be greater than num_classes"))
    found.append(refused(lambda: rank(3, 3), "must be less than num_sampled"))
    found.append(refused(lambda: rank(3, 2, "x"), "unsupported partition_strategy"))
    return found


def case_other_nn(tf):
    nn = tf.contrib.nn
    x = tf.constant([[3.0, 1.0, 2.0]])
    made = [nn.nth_element(x, 1), nn.nth_element(x, 0, reverse=True)]
    filters = tf.constant(normal(2, 1, 1))
    made.append(nn.conv1d_transpose(tf.reshape(x, [1, 3, 1]), filters, [1, 6, 1], 2))
    return values(tf, made)


def case_util(tf):
    util = tf.contrib.util
    proto = util.make_tensor_proto([[1.0, 2.0]])
    found = [util.make_ndarray(proto), proto.dtype]
    found.append(util.constant_value(tf.fill([2], 3)))
    found.append(util.constant_value(tf.placeholder(tf.float32)) is None)
    graph_def = tf.get_default_graph().as_graph_def()
    found.append(sorted(util.ops_used_by_graph_def(graph_def)))
    found.append([op.name for op in util.stripped_op_list_for_graph(graph_def).op])
    return found


def case_stateless(tf):
    stateless = tf.contrib.stateless
    seed = tf.constant([1, 2], tf.int64)
    other = tf.constant([1, 3], tf.int64)
    found = []
    for draw in (
        lambda s: stateless.stateless_random_normal([9], s),
        lambda s: stateless.stateless_random_uniform([9], s, 2, 9, tf.int32),
        lambda s: stateless.stateless_truncated_normal([9], s),
        lambda s: stateless.stateless_multinomial(tf.zeros([1, 4]), 9, s),
    ):
        one, same, another = values(tf, [draw(seed), draw(seed), draw(other)])
        found.append([one.dtype.name, list(one.shape), (one == same).all(), (one == another).all()])
    return found


def case_nodes_of_a_loss(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    tf.contrib.losses.mean_squared_error(x, x, scope="own")
    return [node for node in nodes(tf) if node[0].count("/") == 1]
