"""Programs of boosted trees: the ops alone, and ``tf.estimator``'s estimators (``recorded``)."""

import importlib
import tempfile
import zlib

import numpy as np

from tests.contrib.recorded import refused


class _Ops:
    """Op types of Penstock called as those of ``tf.raw_ops``."""

    def __getattr__(self, op_type):
        make = importlib.import_module("penstock.foundation.graph.build").make
        registry = importlib.import_module("penstock.foundation.opdef.registry")

        def call(**given):
            names = [each.name for each in registry.lookup(op_type).inputs]
            return make(op_type, *[given.pop(name) for name in names], **given)

        return call


def _ops(tf):
    return tf.raw_ops if hasattr(tf, "raw_ops") else _Ops()


# ---- ops -----------------------------------------------------------------------------------------


def case_gains(tf):
    ops, found = _ops(tf), []
    settings = [(0, 0, 0, 0), (0, 0.3, 0.1, 0), (0.5, 0.1, 0, 0), (0, 0, 0, 2), (20, 0, 0.2, 0)]
    for seed, (l1, l2, complexity, least) in enumerate(settings):
        random = np.random.RandomState(seed)
        stats = ops.BoostedTreesMakeStatsSummary(
            node_ids=random.randint(0, 3, 30).astype("int32"),
            gradients=random.normal(size=[30, 1]).astype("float32"),
            hessians=random.uniform(0.05, 1, size=[30, 1]).astype("float32"),
            bucketized_features_list=[random.randint(0, 5, 30).astype("int32") for _ in "ab"],
            max_splits=7, num_buckets=5,
        )  # fmt: skip
        best = ops.BoostedTreesCalculateBestGainsPerFeature(
            node_id_range=[0, 4], stats_summary_list=tf.unstack(stats), l1=float(l1),
            l2=float(l2), tree_complexity=float(complexity), min_node_weight=float(least),
            max_splits=7,
        )  # fmt: skip
        with tf.Session() as sess:
            found.append([stats.shape.as_list(), sess.run([stats] + [list(each) for each in best])])
    return found


def case_quantiles(tf):
    ops, found = _ops(tf), []
    for seed, (count, epsilon) in enumerate([(40, 0.01), (300, 0.01), (3000, 0.01), (9000, 0.05)]):
        random = np.random.RandomState(seed)
        values = [random.normal(size=count).astype("float32") for _ in "ab"]
        values[0] = np.round(values[0], 1)
        weights = random.uniform(0, 2, count) if seed == 0 else np.ones(count)
        handle = ops.BoostedTreesQuantileStreamResourceHandleOp(
            shared_name=f"q{seed}", container=""
        )
        named = {"quantile_stream_resource_handle": handle}
        create = ops.BoostedTreesCreateQuantileStreamResource(
            epsilon=epsilon, num_streams=tf.constant(2, tf.int64), **named
        )
        made = ops.BoostedTreesMakeQuantileSummaries(
            float_values=values, example_weights=weights.astype("float32"), epsilon=epsilon
        )
        add = ops.BoostedTreesQuantileStreamResourceAddSummaries(summaries=list(made), **named)
        asked = ops.BoostedTreesQuantileStreamResourceGetBucketBoundaries(num_features=2, **named)
        flushes = [
            ops.BoostedTreesQuantileStreamResourceFlush(
                num_buckets=tf.constant(size, tf.int64), generate_quantiles=even, **named
            )
            for size, even in ((30, False), (10, True))
        ]
        ready = ops.IsBoostedTreesQuantileStreamResourceInitialized(**named)
        buckets = ops.BoostedTreesBucketize(
            float_values=[each[:20] for each in values], bucket_boundaries=list(asked)
        )
        put = ops.BoostedTreesQuantileStreamResourceDeserialize(
            bucket_boundaries=[
                tf.placeholder_with_default(each, None) for each in ([1.0, 2.0], [3.0])
            ],
            **named,
        )
        with tf.Session() as sess:
            states = [sess.run(ready)]
            sess.run(create)
            states.append(sess.run([ready, list(asked)]))
            for flush in flushes:
                sess.run(add)
                sess.run(add)
                sess.run(flush)
                states.append(sess.run([list(asked), list(buckets)]))
            sess.run(put)
            states.append(sess.run([list(asked), list(buckets), [tf.shape(x)[0] for x in made]]))
        found.append(states)
    return found


class _Ensemble:
    """An ensemble and what is asked of it."""

    def __init__(self, tf, seed, name):
        self.tf, self.ops, self.random = tf, _ops(tf), np.random.RandomState(seed)
        handle = self.ops.BoostedTreesEnsembleResourceHandleOp(shared_name=name, container="")
        self.named = {"tree_ensemble_handle": handle}
        self.features = [self.random.randint(0, 5, 8).astype("int32") for _ in "ab"]
        self.at = np.zeros(8, "int32"), -np.ones(8, "int32")
        self.serialized = self.ops.BoostedTreesSerializeEnsemble(**self.named)
        self.states = self.ops.BoostedTreesGetEnsembleStates(**self.named)

    def put(self, kind, stamp, text):
        return getattr(self.ops, f"BoostedTrees{kind}Ensemble")(
            stamp_token=self.tf.constant(stamp, self.tf.int64), tree_ensemble_serialized=text,
            **self.named
        )  # fmt: skip

    def look(self, sess):
        given = {"bucketized_features": self.features, "logits_dimension": 1, **self.named}
        moved = self.ops.BoostedTreesTrainingPredict(
            cached_tree_ids=self.at[0], cached_node_ids=self.at[1], **given
        )
        whole = self.ops.BoostedTreesPredict(**given)
        states, (stamp, text), moved, whole = sess.run(
            [list(self.states), list(self.serialized), list(moved), whole]
        )
        self.at = moved[1], moved[2]
        return [states, int(stamp), zlib.crc32(text), moved, whole]

    def draw(self, count, width=None):
        shape = [count] if width is None else [count, width]
        return [self.random.normal(size=shape).astype("float32") for _ in "ab"]

    def grow(self, sess, depth, pruning, less):
        start, end = sess.run(self.states[4])
        count = end - start
        sess.run(
            self.ops.BoostedTreesUpdateEnsemble(
                feature_ids=[0, 1],
                node_ids=[np.arange(start, end, dtype="int32")] * 2,
                gains=[each - less for each in self.draw(count)],
                thresholds=[self.random.randint(0, 4, count).astype("int32") for _ in "ab"],
                left_node_contribs=self.draw(count, 1),
                right_node_contribs=self.draw(count, 1),
                max_depth=depth,
                learning_rate=0.3,
                pruning_mode=pruning,
                **self.named,
            )  # fmt: skip
        )


def _grown(tf, seed, pruning, centered, depth, less):
    one = _Ensemble(tf, seed, f"e{pruning}")
    ready = one.ops.IsBoostedTreesEnsembleInitialized(**one.named)
    with tf.Session() as sess:
        found = [sess.run(ready)]
        sess.run(one.put("Create", 3, ""))
        found += [sess.run(ready), one.look(sess)]
        for gradient in centered:
            again = one.ops.BoostedTreesCenterBias(
                mean_gradients=[[gradient]], mean_hessians=[[0.7]], l1=0.0, l2=0.0, **one.named
            )
            found += [sess.run(again), one.look(sess)]
        for _ in range(2 * depth + 1):
            one.grow(sess, depth, pruning, np.float32(less))
            found.append(one.look(sess))
        text = sess.run(one.serialized[1])
        other = _Ensemble(tf, seed, f"f{pruning}")
        sess.run(other.put("Create", 0, ""))
        sess.run(other.put("Deserialize", 9, text))
        return found + [other.look(sess)]


def case_ensembles(tf):
    return [_grown(tf, seed, pruning, centered, depth, less)
            for seed, (centered, depth, less) in enumerate(
                [([], 2, 0), ([-0.5, -0.01], 3, 0), ([-0.5, 0.01, 0.1], 2, 1), ([], 3, 1)])
            for pruning in range(3)]  # fmt: skip


# ---- estimators ----------------------------------------------------------------------------------

_RANDOM = np.random.RandomState(0)
X = _RANDOM.uniform(-2, 2, size=[40, 2]).astype("float32")
KINDS = _RANDOM.choice(["a", "b", "c"], size=[40, 1])
CLASSES = ((X[:, 0] > 0) ^ (X[:, 1] > 0.3)).astype("int64")[:, None]
NUMBERS = (X[:, :1] * 2 + np.sin(X[:, 1:] * 3)).astype("float32")
WEIGHTS = _RANDOM.uniform(0.5, 2, size=[40, 1]).astype("float32")


def _columns(tf):
    make = tf.feature_column
    numbers = [make.numeric_column("f0"), make.numeric_column("f1")]
    buckets = [
        make.bucketized_column(numbers[0], [-1.0, 0.0, 1.0]),
        make.bucketized_column(numbers[1], [-1.0, 0.0, 0.3, 1.0]),
    ]
    kinds = make.categorical_column_with_vocabulary_list("c", ["a", "b", "c"])
    return numbers, buckets, make.indicator_column(kinds)


def _input(tf, labels, times=None):
    features = {"f0": X[:, :1], "f1": X[:, 1:], "c": KINDS, "w": WEIGHTS}
    return lambda: tf.data.Dataset.from_tensors((features, labels)).repeat(times)


def _trained(tf, made, labels, steps=40):
    made.train(_input(tf, labels), steps=steps)
    found = {k: float(v) for k, v in made.evaluate(_input(tf, labels, 1)).items()}
    predicted = made.predict(lambda: _input(tf, labels, 1)().map(lambda features, _: features))
    shown = [each.get("predictions", each.get("logits")) for each in predicted]
    names = made.get_variable_names()
    values = {each: made.get_variable_value(each) for each in names if "serialized" not in each}
    gains = made.experimental_feature_importances(normalize=True)
    return [found, shown, names, values, sorted([str(k), float(v)] for k, v in gains.items())]


def case_classifiers(tf):
    numbers, buckets, kinds = _columns(tf)
    make = tf.estimator.BoostedTreesClassifier
    return [
        _trained(tf, make(buckets, 1, n_trees=2, max_depth=2, label_vocabulary=["no", "yes"],
                          weight_column="w", l1_regularization=0.01),
                 np.array(["no", "yes"])[CLASSES]),
        _trained(tf, make([numbers[0], buckets[1]], 1, n_trees=2, max_depth=3,
                          quantile_sketch_epsilon=0.1), CLASSES),
    ]  # fmt: skip


def case_regressors(tf):
    numbers, buckets, kinds = _columns(tf)
    make = tf.estimator.BoostedTreesRegressor
    return [
        _trained(tf, make([*buckets, kinds], 1, n_trees=3, max_depth=3, l2_regularization=0.1,
                          tree_complexity=0.01, learning_rate=0.3, pruning_mode="post"), NUMBERS),
        _trained(tf, make(numbers, 2, n_trees=2, max_depth=2, center_bias=True), NUMBERS),
        _trained(tf, make(buckets, 1, n_trees=2, max_depth=2, pruning_mode="pre",
                          tree_complexity=0.05, min_node_weight=0.1, weight_column="w"), NUMBERS),
    ]  # fmt: skip


def case_heads_and_limits(tf):
    _, buckets, _ = _columns(tf)
    make = tf.estimator.BoostedTreesEstimator
    found = [
        _trained(tf, make(buckets, 1, head, n_trees=1, max_depth=2), labels)
        for head, labels in (
            (tf.estimator.RegressionHead(), NUMBERS),
            (tf.contrib.estimator.binary_classification_head(), CLASSES),
        )
    ]
    regressor = tf.estimator.BoostedTreesRegressor

    def steps(**given):
        made = regressor(buckets, 1, **given)
        made.train(_input(tf, NUMBERS), steps=60)
        return int(made.get_variable_value("global_step"))

    def train(columns=buckets, **given):
        regressor(columns, 1, **given).train(_input(tf, NUMBERS), steps=1)

    directory = tempfile.mkdtemp()
    for trees in (1, 3):  # the second goes on where the first ended
        again = regressor(buckets, 1, directory, n_trees=trees, max_depth=2)
        again.train(_input(tf, NUMBERS), steps=60)
    kind = tf.feature_column.categorical_column_with_hash_bucket("c", 3)
    return found + [
        steps(n_trees=1, max_depth=2, pruning_mode="pre", tree_complexity=1e6),
        steps(n_trees=2, max_depth=2, min_node_weight=1e6),
        int(again.get_variable_value("global_step")),
        refused(lambda: train(pruning_mode="pre"), "For pruning, tree_complexity must be positive"),
        refused(lambda: train(pruning_mode="foo"), "must be one of: none, post, pre"),
        refused(lambda: train([kind]), "got: "),
        refused(lambda: regressor(buckets, 1, label_dimension=2), "multi-dimension"),
        refused(lambda: tf.estimator.BoostedTreesClassifier(buckets, 1, n_classes=3),
                "multi class"),
        refused(regressor(buckets, 1).experimental_feature_importances),
    ]  # fmt: skip


def _kept(tf, made):
    """What in-memory training leaves: variables by name, values of them, and the trees' loss."""
    names = made.get_variable_names()
    values = {
        n: made.get_variable_value(n)
        for n in names
        if "serialized" not in n and "feature" not in n and "boundaries_0" not in n
    }
    return [names, values, float(made.evaluate(_input(tf, NUMBERS, 1))["loss"])]


def case_in_memory(tf):
    package, (_, buckets, kinds) = tf.contrib.estimator, _columns(tf)
    classifier = package.boosted_trees_classifier_train_in_memory
    regressor = package.boosted_trees_regressor_train_in_memory
    data, columns = _input(tf, NUMBERS, 1), [*buckets, kinds]
    found = [
        _kept(tf, regressor(data, columns, n_trees=3, max_depth=2)),
        _kept(tf, regressor(data, columns, n_trees=2, max_depth=2, center_bias=True)),
        _kept(tf, regressor(data, columns, n_trees=2, max_depth=3, weight_column="w",
                            l2_regularization=0.1, pruning_mode="post", tree_complexity=0.01)),
    ]  # fmt: skip
    hooked = []

    class Counted(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            hooked.append(1)

    made = classifier(
        _input(tf, np.array(["no", "yes"])[CLASSES], 1),
        buckets,
        n_trees=2,
        max_depth=2,
        label_vocabulary=["no", "yes"],
        train_hooks=[Counted()],
    )
    metrics = made.evaluate(_input(tf, np.array(["no", "yes"])[CLASSES], 1))
    found.append([{k: float(v) for k, v in metrics.items()}, len(hooked)])
    made = tf.estimator.BoostedTreesRegressor(buckets, 1, n_trees=2, train_in_memory=True)
    made.train(_input(tf, NUMBERS), steps=4)
    return found + [
        _kept(tf, made),
        refused(lambda: regressor(data, buckets, label_dimension=2), "For now only 1 dimension"),
        refused(lambda: classifier(data, buckets, n_classes=3), "For now only binary"),
    ]


def case_in_memory_numbers(tf):
    """One feature of numbers, whose buckets are the quantiles that the first step finds."""
    numbers, _, _ = _columns(tf)
    regressor = tf.contrib.estimator.boosted_trees_regressor_train_in_memory
    made = regressor(_input(tf, NUMBERS, 1), numbers[:1], n_trees=2, max_depth=2,
                     quantile_sketch_epsilon=0.1)  # fmt: skip
    return [made.get_variable_names(), made.get_variable_value("boosted_trees/are_features_cached")]
