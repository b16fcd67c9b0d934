"""Programs of losses and metrics, run in Penstock and in TensorFlow 1.15; Python 3.7 runs this too.

As a script: ``python weighing.py FILE PART`` writes what TensorFlow says of a part, as JSON.
"""

import json
import sys

import numpy as np

RNG = np.random.RandomState(0)
LABELS = (RNG.rand(4, 3) > 0.5).astype("float32")
SCORES = RNG.rand(4, 3).astype("float32")
WEIGHTS = RNG.rand(4, 1).astype("float32") * np.array([[1], [0], [1], [1]], "float32")
CLASSES, GUESSES = RNG.randint(0, 3, 4), RNG.randint(0, 3, 4)
LOSSES = """absolute_difference hinge_loss huber_loss log_loss mean_squared_error
    mean_pairwise_squared_error sigmoid_cross_entropy softmax_cross_entropy""".split()
REDUCTIONS = "NONE SUM SUM_OVER_BATCH_SIZE MEAN SUM_BY_NONZERO_WEIGHTS".split()
MEANS = "mean_absolute_error mean_squared_error root_mean_squared_error".split()
COUNTS = "true_positives true_negatives false_positives false_negatives".split()
METHODS = "trapezoidal careful_interpolation minoring majoring".split()


class Run:
    """Builds each program with operands of known and of unknown shape, and runs it."""

    def __init__(self, tf):
        self.tf, self.found = tf, {}

    def case(self, name, build, steps=1):
        for known in (True, False):
            self._case(name + ("_known" if known else "_unknown"), build, steps, known)

    def _case(self, name, build, steps, known):
        tf, feeds = self.tf, {}

        def operand(value):
            made = tf.placeholder(value.dtype, value.shape if known else None)
            feeds[made] = value
            return made

        with tf.Graph().as_default() as graph, tf.Session() as session:
            made = build(operand)
            operations = graph.get_operations()
            nodes = sorted([o.name, o.type, [i.name for i in o.inputs]] for o in operations)
            session.run(tf.local_variables_initializer())
            made = list(made) if isinstance(made, (tuple, list)) else [made]
            values = [session.run([one], feeds)[0] for _ in range(steps) for one in made[::-1]]
            collections = {
                key: [one.name for one in graph.get_collection(key)]
                for key in ("losses", "metric_variables", "local_variables")
            }
        self.found[name] = {
            "nodes": nodes,
            "values": [np.asarray(value, "float64").tolist() for value in values],
            "collections": collections,
        }


def losses(run):
    tf = run.tf
    for name in LOSSES:
        function = getattr(tf.losses, name)
        spread = WEIGHTS[:, 0] if name == "softmax_cross_entropy" else WEIGHTS

        def weighted(operand, function=function, spread=spread):
            scores = operand(SCORES)
            loss = function(operand(LABELS), scores, weights=operand(spread))
            return [loss, tf.gradients(loss, scores)[0]]

        if name == "mean_pairwise_squared_error":
            # The gradient of a sum over axes that are not constants has other nodes here.
            run.case(name, lambda o, f=function: f(o(LABELS), o(SCORES), weights=o(WEIGHTS)))
            continue
        run.case(name, weighted)
        run.case(name + "_scalar", lambda o, f=function: f(o(LABELS), o(SCORES), weights=2.0))
        for how in REDUCTIONS:
            kind = getattr(tf.losses.Reduction, how)
            run.case(
                name + "_" + how,
                lambda o, f=function, kind=kind: f(o(LABELS), o(SCORES), reduction=kind),
            )
    run.case("cosine", lambda o: tf.losses.cosine_distance(o(LABELS), o(SCORES), axis=1))
    run.case(
        "smooth",
        lambda o: [
            tf.losses.sigmoid_cross_entropy(o(LABELS), o(SCORES), label_smoothing=0.1),
            tf.losses.softmax_cross_entropy(o(LABELS), o(SCORES), label_smoothing=0.1, scope="s"),
            tf.losses.get_total_loss(),
        ],
    )
    sparse = tf.losses.sparse_softmax_cross_entropy
    run.case("sparse", lambda o: sparse(o(CLASSES), o(SCORES)))
    run.case("sparse_column", lambda o: sparse(o(CLASSES[:, None]), o(SCORES), o(WEIGHTS[:, 0])))
    run.case("sparse_weights", lambda o: sparse(o(CLASSES), o(SCORES), o(WEIGHTS)))


def metrics(run):
    m = run.tf.metrics
    for weighted in (False, True):

        def row(operand, weighted=weighted):
            return {"weights": operand(WEIGHTS[:, 0])} if weighted else {}

        def column(operand, weighted=weighted):
            return {"weights": operand(WEIGHTS)} if weighted else {}

        def case(name, build, weighted=weighted):
            run.case(name + "_weighted" * weighted, build, steps=2)

        case("accuracy", lambda o: m.accuracy(o(CLASSES), o(GUESSES), **row(o)))
        case("mean", lambda o: m.mean(o(SCORES), **column(o)))
        case("below", lambda o: m.percentage_below(o(SCORES), 0.4, **column(o)))
        for name in MEANS:
            f = getattr(m, name)
            case(name, lambda o, f=f: f(o(LABELS), o(SCORES), **column(o)))
        for name in [*COUNTS, "precision", "recall"]:
            f, first = getattr(m, name), np.round(SCORES[:, 0])
            case(name, lambda o, f=f, s=first: f(o(LABELS[:, 0]), o(s), **row(o)))
        for name in [*COUNTS, "precision", "recall"]:
            f = getattr(m, name + "_at_thresholds")
            case(
                name + "_at_thresholds",
                lambda o, f=f: f(o(LABELS), o(SCORES), [0.2, 0.5, 0.9], **column(o)),
            )
        for curve in ("ROC", "PR"):
            for method in METHODS:
                how = {"curve": curve, "summation_method": method, "num_thresholds": 11}
                case(
                    "_".join(["auc", curve, method]),
                    lambda o, how=how: m.auc(o(LABELS), o(SCORES), **dict(how, **column(o))),
                )
        for name in ("sensitivity_at_specificity", "specificity_at_sensitivity"):
            f = getattr(m, name)
            case(
                name,
                lambda o, f=f: f(o(LABELS), o(SCORES), 0.5, num_thresholds=11, **column(o)),
            )
        case(
            "relative",
            lambda o: m.mean_relative_error(o(LABELS), o(SCORES), o(LABELS * 2), **column(o)),
        )
        case("cosine_mean", lambda o: m.mean_cosine_distance(o(LABELS), o(SCORES), 1, **column(o)))

        def known(name, build, weighted=weighted):
            run._case(name + "_weighted" * weighted, build, 2, True)

        known("mean_tensor", lambda o: m.mean_tensor(o(SCORES), **column(o)))
        known("mean_iou", lambda o: m.mean_iou(o(CLASSES), o(GUESSES), 3, **row(o)))


def confusion(run):
    matrix = run.tf.confusion_matrix
    run._case("confusion", lambda o: matrix(o(CLASSES), o(GUESSES)), 1, True)
    given = {"num_classes": 4, "dtype": run.tf.float32}
    run._case(
        "confusion_weights",
        lambda o: matrix(o(CLASSES), o(GUESSES), weights=o(WEIGHTS[:, 0]), **given), 1, True,
    )  # fmt: skip


RANKED_SHAPE = (4, 6)
RANKED = np.argsort(np.argsort(RNG.rand(*RANKED_SHAPE), 1), 1).astype("float32")
TRUTH = np.array([[0, 3], [5, 5], [2, 1], [4, 0]], "int64")
ROWS = np.array([0.5, 1.0, 0.0, 2.0], "float32")


def rankings(run):
    """Metrics of the first k of a ranking, of dense and of sparse labels."""
    tf, m = run.tf, run.tf.metrics

    def sparse(operand, ragged=True):
        indices = [[0, 0], [0, 1], [1, 0], [2, 1], [3, 0], [3, 1]]
        if not ragged:
            return tf.SparseTensor([[0], [1], [2], [3]], operand(TRUTH[:, 0]), [4])
        values = np.array([0, 3, 5, 1, 4, 9], "int64")
        return tf.SparseTensor(indices, operand(values), [4, 2])

    labels = {
        "dense": lambda o: o(TRUTH),
        "column": lambda o: o(TRUTH[:, 0]),
        "sparse": sparse,
        "sparse_row": lambda o: sparse(o, False),
        "outside": lambda o: o(np.array([[7, 3], [-1, 5], [2, 8], [4, 0]], "int64")),
    }
    for kind, made in labels.items():
        for weights in (None, np.float32(2.0) if kind == "column" else ROWS):
            suffix = "" if weights is None else "_weighted"

            def more(o, weights=weights):
                return {} if weights is None else {"weights": o(weights)}

            for k in (3,) if weights is None else (1,):
                tail = f"_{kind}_{k}{suffix}"
                for name in ("precision_at_k", "recall_at_k", "average_precision_at_k"):
                    f = getattr(m, name)

                    def build(o, f=f, k=k, made=made, more=more):
                        return f(made(o), o(RANKED), k, **more(o))

                    if name == "average_precision_at_k":
                        run._case(name + tail, build, 2, True)
                    else:
                        run.case(name + tail, build, steps=2)
            for name in ("precision_at_top_k", "recall_at_top_k"):
                f = getattr(m, name)
                first = np.argsort(-RANKED, 1)[:, :3]
                run._case(
                    "_".join([name, kind]) + suffix,
                    lambda o, f=f, made=made, more=more, first=first: f(
                        made(o), o(first), class_id=5, name="mine", **more(o)
                    ),
                    2,
                    bool(suffix),
                )
    run.case("old_precision", lambda o: m.sparse_precision_at_k(o(TRUTH), o(RANKED), 2, 0))
    run._case(
        "old_average",
        lambda o: m.sparse_average_precision_at_k(
            o(TRUTH), o(RANKED), 2, metrics_collections=["losses"]
        ),
        1,
        True,
    )


PARTS = {"weighing": (losses, metrics, confusion), "rankings": (rankings,)}


def results(tf, part):
    """What every program of a part gives: name to nodes, values and collections."""
    run = Run(tf)
    for programs in PARTS[part]:
        programs(run)
    return run.found


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.logging.set_verbosity(tensorflow.compat.v1.logging.ERROR)
    with open(sys.argv[1], "w") as file:
        json.dump(results(tensorflow, sys.argv[2]), file)
