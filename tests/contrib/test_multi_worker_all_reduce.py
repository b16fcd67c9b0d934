"""``MultiWorkerAllReduce`` sums over replicas; its spec of algorithms is checked."""

import pytest

import penstock as tf

_DEVICES = ["/cpu:0", "/cpu:1"]


@pytest.mark.parametrize("spec", [("pscpu/pscpu", 2, -1), [("xring", 2, 1024), ("nccl", 1, -1)]])
def test_gradients_of_replicas_are_summed(spec):
    reduce = tf.contrib.distribute.MultiWorkerAllReduce(["/job:localhost"], 2, spec)
    strategy = tf.contrib.distribute.MirroredStrategy(_DEVICES, cross_device_ops=reduce)
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), strategy.scope(), tf.Session(config=config) as sess:
        w = tf.get_variable("w", initializer=2.0)

        def step():
            part = tf.cast(
                tf.distribute.get_replica_context().replica_id_in_sync_group + 1, tf.float32
            )
            return tf.train.GradientDescentOptimizer(0.1).minimize(w * part)

        train = strategy.group(strategy.experimental_run_v2(step))
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run(tf.global_variables()[0]) == pytest.approx(2.0 - 0.1 * 3.0)


def test_a_spec_must_cover_what_is_large():
    with pytest.raises(ValueError, match="limit -1"):
        tf.contrib.distribute.MultiWorkerAllReduce(["/job:localhost"], 2, [("xring", 2, 1024)])
    with pytest.raises(ValueError, match="triples"):
        tf.contrib.distribute.MultiWorkerAllReduce(["/job:localhost"], 2, (1, 2))
