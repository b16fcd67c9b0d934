"""Programs of ``tf.contrib.tpu`` and of resolvers of TPUs (``recorded``)."""

import tempfile

from tests.contrib.recorded import names, refused, values


def case_configs(tf):
    package = tf.contrib.tpu
    found = [list(package.TPUConfig()), list(package.TPUConfig(per_host_input_for_training=False))]
    found.append(list(package.TPUConfig("5m", 8, 4, 3, "job", 2, [{}], 5, 7)))
    config = package.RunConfig(package.TPUConfig(3), save_checkpoints_steps=7, master="grpc://m:1")
    changed = config.replace(tpu_config=package.TPUConfig(9), save_summary_steps=2)
    for each in (config, changed, package.RunConfig(), package.RunConfig(evaluation_master="e")):
        found.append([each.master, each.evaluation_master, each.tpu_config.iterations_per_loop])
        found[-1] += [each.save_checkpoints_steps, each.save_summary_steps, each.cluster]
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("grpc://a:1,grpc://b:2")
    config = package.RunConfig(cluster=resolver)
    found += [config.master, config.evaluation_master, config.cluster_spec.as_dict()]
    found.append(config.session_config.isolate_session_state)
    for wrong, words in (
        (lambda: package.TPUConfig(0), "Invalid TPUConfig `iterations_per_loop` value"),
        (lambda: package.TPUConfig(num_shards=0), "num_shards must be positive"),
        (lambda: package.TPUConfig(num_shards=1.5), "num_shards must be int"),
        (lambda: package.TPUConfig(num_cores_per_replica=3), "num_cores_per_replica must be"),
        (lambda: package.TPUConfig(input_partition_dims=[{}]), "only supported in PER_HOST_V2"),
        (lambda: package.TPUConfig(eval_training_input_configuration=3), "PER_HOST_V1 or SLICED"),
        (lambda: package.RunConfig(master="m", cluster=resolver), "Both master and cluster"),
    ):
        found.append(refused(wrong, words))
    return found


def case_resolvers(tf):
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver
    found = []
    for given in (
        ["", {}],
        ["local", {}],
        ["grpc://a:1,grpc://b:2", {}],
        [["grpc://a:1"], {}],
        ["grpc://a:1", {"coordinator_name": "c", "coordinator_address": "h:3"}],
    ):
        made = resolver(given[0], **given[1])
        spec = made.cluster_spec()
        found.append([made.master(), made.get_master(), made.get_job_name(), made.environment])
        found[-1] += [made.task_type, made.task_id, spec and spec.as_dict()]
    found += [refused(lambda: resolver([]), "At least one TPU must be specified")]
    found += [refused(lambda: resolver(["a", "b"]), "not yet implemented")]
    found += [refused(lambda: resolver("named"), "googleapiclient and oauth2client must be")]
    return found


def case_bfloat16_scope(tf):
    with tf.contrib.tpu.bfloat16_scope():
        w = tf.get_variable("w", [2], tf.bfloat16, initializer=tf.ones_initializer())
        with tf.variable_scope("inner"):
            v = tf.get_variable("v", [2], tf.float32)
    kept = [[each.name, each.dtype.base_dtype.name] for each in tf.global_variables()]
    both = tf.cast(w, tf.float32) * 3.0
    return [kept, w.name, w.dtype.name, v.dtype.base_dtype.name, values(tf, both)]


def case_specs(tf):
    make = tf.contrib.tpu.TPUEstimatorSpec
    loss = tf.constant(2.0)
    hook = tf.train.SessionRunHook()

    def metrics(x, y):
        return {"mean": tf.metrics.mean(x + y)}

    found = []
    for tensors in ([loss, loss], {"x": loss, "y": loss}):
        spec = make("eval", loss=loss, eval_metrics=(metrics, tensors), evaluation_hooks=[hook])
        as_spec = spec.as_estimator_spec()
        found.append([sorted(as_spec.eval_metric_ops), len(as_spec.evaluation_hooks)])
    spec = make("train", loss=loss, train_op=tf.no_op(), host_call=(tf.identity, {"input": loss}))
    as_spec = spec.as_estimator_spec()
    found.append([len(as_spec.training_hooks), len(as_spec.prediction_hooks), list(spec._fields)])
    for given, words in (
        ({"eval_metrics": metrics}, "eval_metrics should be tuple or list"),
        ({"eval_metrics": (metrics,)}, "eval_metrics should have two elements"),
        ({"host_call": (1, [])}, "host_call[0] should be callable"),
        ({"host_call": (metrics, loss)}, "host_call[1] should be tuple or list, or dict"),
        ({"host_call": (metrics, [loss])}, "length of tensors 1 does not match method args"),
        ({"training_hooks": [3]}, "All hooks must be SessionRunHook instances"),
    ):
        found.append(refused(lambda given=given: make("train", **given), words))
    return found


def _estimator(tf, **more):
    seen = []

    def model_fn(features, labels, mode, config, params):
        seen.append([mode, params.get("batch_size"), params.get("use_tpu"), params.get("rate")])
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        predictions = w * features["x"]
        if mode == "infer":
            return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions={"y": predictions})
        loss = tf.reduce_mean(tf.square(predictions - labels))
        train = tf.train.GradientDescentOptimizer(params.get("rate")).minimize(
            loss, global_step=tf.train.get_global_step())  # fmt: skip
        measure = (lambda y: {"mean": tf.metrics.mean(y)}, [predictions])
        seen.append(names(tf.global_variables()))
        return tf.contrib.tpu.TPUEstimatorSpec(mode, {"y": predictions}, loss, train, measure)

    def input_fn(params):
        seen.append([sorted(params), params["batch_size"]])
        data = tf.data.Dataset.from_tensor_slices(
            ({"x": [1.0, 2.0, 3.0, 4.0]}, [3.0, 6.0, 9.0, 12.0])
        )
        return data.batch(params["batch_size"])

    given = {"train_batch_size": 2, "eval_batch_size": 4, "predict_batch_size": 3}
    given.update({"use_tpu": False, "params": {"rate": 0.05}}, **more)
    made = tf.contrib.tpu.TPUEstimator(
        model_fn, tempfile.mkdtemp(), tf.contrib.tpu.RunConfig(), **given)  # fmt: skip
    return made, input_fn, seen


def case_estimator(tf):
    made, input_fn, seen = _estimator(tf)
    made.train(input_fn, max_steps=2)
    metrics = made.evaluate(input_fn)
    predicted = [each["y"] for each in made.predict(input_fn)]
    return [seen, sorted(made.get_variable_names()), {k: float(v) for k, v in metrics.items()},
            predicted, made.config.log_step_count_steps]  # fmt: skip


def case_estimator_exports(tf):
    made, input_fn, seen = _estimator(tf, export_to_tpu=False)
    made.train(input_fn, max_steps=1)
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None])})  # fmt: skip
    path = made.export_saved_model(tempfile.mkdtemp(), receiver)
    return [seen[-1], tf.saved_model.loader.maybe_saved_model_directory(path.decode())]


def case_estimator_with_hparams(tf):
    params = tf.contrib.training.HParams(rate=0.1)
    made, input_fn, seen = _estimator(tf, params=params)
    model_seen = seen

    def plain(params):
        return tf.data.Dataset.from_tensors(({"x": [1.0, float(params.batch_size)]}, [3.0, 6.0]))

    made.train(plain, steps=1)
    return [float(made.get_variable_value("w")), len(model_seen)]


def case_estimator_mistakes(tf):
    make, config = tf.contrib.tpu.TPUEstimator, tf.contrib.tpu.RunConfig()

    def model_fn(features, params):
        return None

    made, input_fn, _ = _estimator(tf)
    on_tpu = _estimator(tf, use_tpu=True)[0]
    return [
        refused(lambda: make(model_fn, config=tf.estimator.RunConfig()), "`config` must be"),
        refused(
            lambda: make(model_fn, config=config, params={"batch_size": 1}), "are reserved keys"
        ),
        refused(lambda: make(model_fn, config=config), "`train_batch_size` cannot be `None`"),
        refused(lambda: make(model_fn, config=config, train_batch_size=0), "must be positive"),
        refused(lambda: made.train(lambda: None, steps=1), "does not include params argument"),
        refused(lambda: on_tpu.train(input_fn, steps=1), "Cannot find any TPU cores in the system"),
        refused(lambda: tf.contrib.tpu.CrossShardOptimizer(None, "none"), "Unsupported reduction"),
    ]
