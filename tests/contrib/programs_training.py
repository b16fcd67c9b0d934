"""Programs of ``tf.contrib.training`` (``recorded``)."""

import os
import tempfile

import numpy as np

from tests.contrib.recorded import names, nodes, refused, values


def case_hparams(tf):
    training = tf.contrib.training
    h = training.HParams(rate=0.1, sizes=[3, 4], name="x", flag=True, steps=10)
    found = [str(h), repr(h), "rate" in h, h.get("rate"), h.get("other", 3)]
    h.parse("rate=0.5,sizes=[7],flag=false,name=a b,steps=3")
    found.append(h.values())
    h.override_from_dict({"rate": 1, "steps": 4})
    h.parse_json('{"sizes": [1, 2, 3]}')
    found += [h.values(), h.to_json(sort_keys=True), h.to_json(indent=1, sort_keys=True)]
    h.set_hparam("name", "new")
    h.add_hparam("extra", 2.5)
    h.del_hparam("flag")
    h.set_model_structure([1])
    found += [h.values(), h.get_model_structure(), h.set_from_map({"rate": 2.0}).rate]
    proto = h.to_proto()
    found += [
        training.HParams.from_proto(proto).values()["sizes"],
        proto.hparam["steps"].int64_value,
    ]
    one = training.HParams(a=1).to_proto().SerializeToString()
    several = training.HParams(a=[1.5, 2.5]).to_proto().SerializeToString()
    text = training.HParams(a=["x", "y"]).to_proto().SerializeToString()
    found += [one, several, text, training.HParams(a=[True, False]).to_proto().SerializeToString()]
    for function, words in (
        (lambda: h.set_hparam("rate", "a"), "Could not cast hparam 'rate'"),
        (lambda: h.set_hparam("rate", [1.0]), "Must not pass a list for single-valued"),
        (lambda: h.set_hparam("sizes", 1), "Must pass a list for multi-valued parameter"),
        (lambda: h.set_hparam("steps", 1.5), "Could not cast"),
        (lambda: h.set_hparam("q", 1), ""),
        (lambda: h.add_hparam("rate", 1), "Hyperparameter name is reserved: rate"),
        (lambda: h.add_hparam("values", 1), "Hyperparameter name is reserved: values"),
        (lambda: h.add_hparam("none", []), "cannot be empty: none"),
        (lambda: h.parse("rate"), "Malformed hyperparameter value: rate"),
        (lambda: h.parse("q=1"), "Unknown hyperparameter type for q"),
        (lambda: h.parse("rate=x"), "Could not parse hparam 'rate' of type 'float'"),
        (lambda: h.parse("rate=1,rate=2"), "Multiple assignments to variable 'rate'"),
        (lambda: h.get("rate", "x"), "is incompatible with default=x"),
        (lambda: training.HParams(proto, a=1), "mutually exclusive"),
    ):
        found.append(refused(function, words))
    return found


def case_parse_values(tf):
    parse = tf.contrib.training.parse_values
    types = {"a": int, "b": float, "c": str, "d": bool}
    found = [parse("a=3, b = 2,c=x y,d=1", types), parse("a=[1, 2 3],d=[true,False]", types)]
    found.append(sorted(parse("a[1]=4,a[0]=5", types)["a"].items()))
    found.append(parse("q=1,a=2", types, ignore_unknown=True))
    found.append(refused(lambda: parse("a[0]=1,a[0]=2", types), "Multiple assignments"))
    found.append(refused(lambda: parse("a=1,a[0]=2", types), "Multiple assignments"))
    found.append(refused(lambda: parse("a[0]=[1]", types), "Assignment of a list to a list index"))
    found.append(refused(lambda: parse("d=yes", types), "Could not parse hparam 'd'"))
    return found


def _model(tf):
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=True)
    b = tf.get_variable("b", initializer=[0.5], use_resource=True)
    rows = tf.nn.embedding_lookup(
        tf.get_variable("e", initializer=[[1.0], [2.0]], use_resource=True), [1, 1]
    )
    return tf.reduce_sum(w * w) + tf.reduce_sum(rows * b), w, b


def case_create_train_op(tf):
    training = tf.contrib.training
    loss, w, b = _model(tf)
    counted = tf.get_variable("counted", initializer=0.0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(counted, 1.0, name="count"))
    optimizer = tf.train.GradientDescentOptimizer(0.1)

    def transform(pairs):
        return training.clip_gradient_norms(training.multiply_gradients(pairs, {b: 2.0}), 1.5)

    op = training.create_train_op(loss, optimizer, transform_grads_fn=transform,
                                  summarize_gradients=True)  # fmt: skip
    found = [op.name, names(tf.global_variables()), [n for n in nodes(tf) if "summ" not in n[0]]]
    found.append(sorted(s.name for s in tf.get_collection(tf.GraphKeys.SUMMARIES)))
    found.append([t.name for t in tf.get_collection(tf.GraphKeys.TRAIN_OP)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found += [float(sess.run(op)) for _ in range(3)]
        found += sess.run(tf.global_variables())
    pairs = [(tf.constant(1.0), w)]
    found.append(refused(lambda: training.multiply_gradients(pairs, {}), "is empty"))
    found.append(refused(lambda: training.multiply_gradients(tuple(pairs), {w: 1}), "be a list"))
    found.append(refused(lambda: training.multiply_gradients([(None, w)], {w: 1}), "`None` grad"))
    found.append(refused(lambda: training.create_train_op(loss, optimizer, variables_to_train=[])))
    return found


def case_clipping_norms(tf):
    training = tf.contrib.training
    w = tf.get_variable("w", initializer=[3.0, 4.0])
    sparse = tf.IndexedSlices(tf.constant([[6.0, 8.0]]), tf.constant([0]))
    pairs = training.clip_gradient_norms_fn(2.0)([(w * 1.0, w), (sparse, w), (None, w)])
    return [values(tf, [pairs[0][0], pairs[1][0].values]), pairs[2][0] is None]


def case_training_and_evaluating(tf):
    training = tf.contrib.training
    folder = tempfile.mkdtemp()
    loss, _, _ = _model(tf)
    op = training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
    last = training.train(op, folder, hooks=[tf.train.StopAtStepHook(3)], save_summaries_steps=None)
    found = [float(last), sorted(n for n in os.listdir(folder) if n.startswith("model"))]
    found.append(refused(lambda: training.train(op, None), "logdir cannot be None when"))
    path = training.wait_for_new_checkpoint(folder)
    found.append(training.wait_for_new_checkpoint(folder, path, 0.01, 0.02))
    found += [os.path.basename(path)]
    found.append([p == path for p in training.checkpoints_iterator(folder, timeout=0)])
    with tf.Graph().as_default():
        loss, w, _ = _model(tf)
        tf.train.get_or_create_global_step()
        tf.summary.scalar("loss", loss)
        mean, update = tf.metrics.mean(loss)
        hooks = [training.StopAfterNEvalsHook(4), training.SummaryAtEndHook(folder + "/eval")]
        result = training.evaluate_once(path, eval_ops=update, final_ops=[mean, w], hooks=hooks)
        found += [result, names(tf.local_variables()), training.get_or_create_eval_step().name]
        with tf.Session() as sess:
            sess.run(tf.local_variables_initializer())
        events = [e for f in os.listdir(folder + "/eval")
                  for e in tf.train.summary_iterator(folder + "/eval/" + f)]  # fmt: skip
        found.append([[e.step, v.tag, v.simple_value] for e in events for v in e.summary.value])
    with tf.Graph().as_default():
        loss, w, _ = _model(tf)
        tf.train.get_or_create_global_step()
        found.append(training.evaluate_repeatedly(
            folder, eval_ops=loss, final_ops=w, eval_interval_secs=0, timeout=0,
            max_number_of_evaluations=1, hooks=[training.StopAfterNEvalsHook(2)]))  # fmt: skip
    found.append(refused(lambda: training.SummaryAtEndHook(), "One of log_dir or"))
    return found


def _runs(tf, tensors, times):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        found = [sess.run(tensors) for _ in range(times)]
        coord.request_stop()
        coord.join(threads)
    return found


def case_buckets(tf):
    length = tf.train.range_input_producer(13, shuffle=False, num_epochs=1).dequeue()
    text = tf.fill([length], length)
    lengths, made = tf.contrib.training.bucket_by_sequence_length(
        length, {"x": text, "y": length * 2}, 2, [4, 9], dynamic_pad=True,
        allow_smaller_final_batch=True, capacity=20)  # fmt: skip
    found = [sorted(made), made["x"].shape.as_list(), lengths.shape.as_list()]
    batches = _runs(tf, [lengths, made["x"], made["y"]], 7)
    return found + [sorted(np.asarray(b[0]).tolist() for b in batches),
                    sorted(np.asarray(b[1]).shape for b in batches)]  # fmt: skip


def case_nodes_of_buckets(tf):
    x = tf.placeholder(tf.int32, [3], name="x")
    which = tf.placeholder(tf.int32, [], name="which")
    taken, made = tf.contrib.training.bucket([x], which, 2, 2, name="own")
    found = [taken.name, made.shape.as_list()]
    kinds = ("Queue", "Enqueue", "Dequeue", "Summary")
    found.append(sorted(n for n in nodes(tf) if any(k in n[1] for k in kinds)))
    found.append(sorted(n.name for n in tf.get_collection(tf.GraphKeys.SUMMARIES)))
    found.append([r.name for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)])
    return found


def case_errors_of_buckets(tf):
    training = tf.contrib.training
    x = tf.constant([1, 2])

    def by_length(boundaries):
        return lambda: training.bucket_by_sequence_length(2, [x], 2, boundaries)

    return [
        refused(lambda: training.bucket([x], 0, [1, 2], 3), "must have num_buckets elements"),
        refused(lambda: training.bucket([x], 0, 1, 3, bucket_capacities=[1]), "The list bucket_c"),
        refused(lambda: training.bucket([], 0, 1, 3), "Expected at least one tensor"),
        refused(by_length(3), "must be a list or tuple"),
        refused(by_length([]), "must not be empty"),
        refused(by_length([1.5, 2]), "must be integers"),
        refused(by_length([3, 2]), "sequential increasing lengths"),
    ]


def case_rejection(tf):
    number = tf.train.range_input_producer(10, shuffle=False).dequeue()
    (kept,) = tf.contrib.training.rejection_sample(
        [number], lambda t: tf.cast(tf.equal(t[0] % 3, 0), tf.float32), 2, runtime_checks=True
    )
    many = tf.contrib.training.rejection_sample(
        [tf.stack([number, number + 1]), tf.constant([0, 1])],
        lambda t: tf.cast(t[0] > 8, tf.float32), 1, enqueue_many=True, name="many")  # fmt: skip
    found = _runs(tf, [kept, many[0]], 20)
    return [sorted(set(np.concatenate([f[0] for f in found]).tolist())),
            sorted(set(np.concatenate([f[1] for f in found]).tolist()))]  # fmt: skip


def case_stratified(tf):
    training = tf.contrib.training
    number = tf.train.range_input_producer(100, shuffle=False).dequeue()
    label = tf.cast(number % 10 > 7, tf.int32)  # a fifth of them
    (kept,), labels = training.stratified_sample(
        [number], label, [0.5, 0.5], 50, init_probs=[0.8, 0.2])  # fmt: skip
    (_,), counted = training.stratified_sample([number], label, [0.5, 0.5], 50, name="counted")
    found = _runs(tf, [kept, labels, counted], 20)
    agree = all(((f[0] % 10 > 7) == f[1]).all() for f in found)
    shares = [np.mean([f[i] for f in found]) for i in (1, 2)]
    result = [bool(agree), [bool(abs(s - 0.5) < 0.08) for s in shares]]
    result.append(names(tf.global_variables()))
    result.append(
        refused(
            lambda: training.stratified_sample([number], label, [0.5, 0.5], 2, init_probs=[1.0]),
            "must have the same length",
        )
    )
    return result


def case_resampling(tf):
    training = tf.contrib.training
    x = tf.constant(np.arange(2000.0), tf.float32)
    (made,) = training.resample_at_rate([x], tf.where(x < 1000, tf.fill([2000], 0.5),
                                                      tf.fill([2000], 3.0)), seed=2)  # fmt: skip
    weights = tf.where(x < 1000, tf.fill([2000], 1.0), tf.fill([2000], 3.0))
    (resampled,), rates = training.weighted_resample([x], weights, 0.5, seed=3)
    rows, again, rate = values(tf, [made, resampled, rates])
    found = [
        bool(abs((rows < 1000).sum() - 500) < 90),
        bool(abs((rows >= 1000).sum() - 3000) < 200),
    ]
    found.append(bool((np.sort(rows) == rows).all()))
    found += [again.shape == rate.shape, sorted(set(np.round(rate / rate.min(), 3).tolist()))]
    found.append(names(tf.local_variables()))
    return found


def case_feeding_queue_runner(tf):
    make = tf.contrib.training.FeedingQueueRunner
    queue = tf.FIFOQueue(10, [tf.int32], [[]], name="queue")
    x = tf.placeholder(tf.int32, [])
    enqueue = queue.enqueue(x)
    numbers = iter(range(3))

    def feed():
        for number in numbers:
            return {x: number}
        raise tf.errors.OutOfRangeError(None, None, "done")

    found = [refused(lambda: make(queue, [enqueue], feed_fns=[]), "same length as enqueue_ops")]
    found += [refused(lambda: make(queue, []), ""), refused(make, "")]
    runner = make(queue, [enqueue], feed_fns=[feed])
    found += [refused(runner.to_proto, "does not support serialization"), runner.name]
    value = queue.dequeue()
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(sess, coord, start=True)
        found += [len(threads), [sess.run(value) for _ in range(3)]]
        found.append(refused(lambda: sess.run(value), "insufficient elements"))
        coord.request_stop()
        coord.join(threads)
    return found + [len(runner.exceptions_raised), len(runner.enqueue_ops)]


def case_projector_descriptor(tf):
    found = tf.contrib.tensorboard.plugins.projector.DESCRIPTOR
    return sorted(found.message_types_by_name)
