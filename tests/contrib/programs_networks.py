"""Programs of checkpoints of ``tf.contrib.eager.Network`` (``recorded``)."""

import os
import tempfile

import numpy as np

from tests.contrib.recorded import names, refused


def _network(tf):
    class Two(tf.contrib.eager.Network):
        def __init__(self):
            super(Two, self).__init__()  # noqa: UP008
            self.first = self.track_layer(tf.layers.Dense(2))
            self.last = self.track_layer(tf.layers.Dense(1, use_bias=False))

        def call(self, x):
            return self.last(self.first(x))

    return Two()


def _called(tf, sess, network):
    network(tf.ones([1, 3]))
    sess.run([v.initializer for v in network.variables])
    return network


def _same(sess, one, other):
    pairs = zip(sess.run(one.variables), sess.run(other.variables))
    return [bool(np.array_equal(a, b)) for a, b in pairs]


def case_checkpoints(tf):
    package, folder = tf.contrib.eager, tempfile.mkdtemp()
    with tf.Session() as sess:
        early = _network(tf)
        found = [refused(lambda: package.save_network_checkpoint(early, folder), "first called")]
        one = _called(tf, sess, early)
        path = package.save_network_checkpoint(one, folder, global_step=7)
        found += [os.path.basename(path), tf.train.list_variables(path)]
        renamed = package.save_network_checkpoint(
            one, os.path.join(folder, "r"), map_func=lambda name: "pre/" + name
        )
        found += [os.path.basename(renamed), tf.train.list_variables(renamed)]
        there = _called(tf, sess, _network(tf))
        package.restore_network_checkpoint(there, path)
        found += [_same(sess, one, there)]
        later = _network(tf)
        package.restore_network_checkpoint(later, path)
        found += [_same(sess, one, _called(tf, sess, later)), names(later.variables)]
        lacking = _network(tf)
        package.restore_network_checkpoint(lacking, path, map_func=lambda name: "zz" + name)
        same = _same(sess, one, _called(tf, sess, lacking))
        found += [same[0], same[2]]  # a bias begins at 0 anyway
        return found + [
            refused(lambda: package.restore_network_checkpoint(there, path, lambda name: "zz"),
                    "resulted in two variables named"),
            refused(lambda: package.save_network_checkpoint(there, folder, None, lambda name: "z"),
                    "resulted in two variables named"),
            refused(lambda: package.restore_network_checkpoint(
                there, path, lambda name: "zz" + name), "not found in checkpoint"),
            refused(lambda: package.restore_network_checkpoint(there, "/no/such")),
            refused(package.restore_variables_on_create(path).__enter__, "eager execution"),
        ]  # fmt: skip


def case_nested(tf):
    class Outer(tf.contrib.eager.Network):
        def __init__(self):
            super(Outer, self).__init__()  # noqa: UP008
            self.inner = self.track_layer(_network(tf))

        def call(self, x):
            return self.inner(x)

    package, folder = tf.contrib.eager, tempfile.mkdtemp()
    with tf.Session() as sess:
        outer = _called(tf, sess, Outer())
        path = package.save_network_checkpoint(outer, os.path.join(folder, "o"))
        inner = package.save_network_checkpoint(outer.inner, os.path.join(folder, "i"))
        other = Outer()
        package.restore_network_checkpoint(other, path)
        same = _same(sess, outer, _called(tf, sess, other))
        return [tf.train.list_variables(path), tf.train.list_variables(inner), same]
