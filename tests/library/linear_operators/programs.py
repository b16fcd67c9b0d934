"""Linear operators of every class, what is asked of them, and the answers as JSON.

Penstock and TensorFlow 1.15 answer alike: values with static shapes, hints, classes of products,
and the kinds of errors.  The file runs under Python 3.7 as well.
"""

import itertools
import json
import sys

import numpy as np

SIZE = 4
HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


class Maker:
    """Builds operators of one dtype and batch shape from fixed random numbers.

    With ``dynamic``, tensors have no static shape.
    """

    def __init__(self, tf, dtype="float64", batch=(), dynamic=False):
        self.tf, self.dtype, self.batch, self.dynamic = tf, dtype, tuple(batch), dynamic
        self.random = np.random.RandomState(7)

    def numbers(self, *shape):
        """Numbers between one half and three halves; complex ones with an imaginary part too."""
        shape = self.batch + shape
        values = self.random.uniform(0.5, 1.5, shape)
        if self.dtype.startswith("complex"):
            values = values + 1j * self.random.uniform(-0.5, 0.5, shape)
        return np.asarray(values, self.dtype)

    def tensor(self, value):
        value = np.asarray(value)
        if self.dynamic:
            return self.tf.placeholder_with_default(value, None)
        return self.tf.constant(value)

    def matrix(self, rows=SIZE, columns=SIZE):
        return self.numbers(rows, columns) + 3 * np.eye(rows, columns)

    def definite(self, rows=SIZE):
        half = self.matrix(rows, rows)
        return half @ np.conj(np.swapaxes(half, -1, -2))

    def spectrum(self, *shape):
        """The transform of a kernel of the operator's dtype."""
        kernel = self.numbers(*shape)
        kernel[(..., *(0,) * len(shape))] += 4
        return np.fft.fftn(kernel, axes=range(-len(shape), 0))

    def real_spectrum(self):
        """Positive and the same backwards: of a real, symmetric, definite matrix."""
        values = np.abs(self.numbers(SIZE)) + 1
        return values + values[..., (-np.arange(SIZE)) % SIZE]

    def sizes(self):
        rows = self.tf.placeholder_with_default(SIZE, []) if self.dynamic else SIZE
        batch = list(self.batch) or None
        if self.dynamic and self.batch:
            batch = self.tf.placeholder_with_default(np.array(batch, "int32"), [len(batch)])
        return rows, batch

    def make(self, name, **hints):
        return getattr(self, "_" + name)(self.tf.linalg, **hints)

    def _identity(self, linalg, **hints):
        rows, batch = self.sizes()
        return linalg.LinearOperatorIdentity(rows, batch, self.tf.as_dtype(self.dtype), **hints)

    def _scaled_identity(self, linalg, **hints):
        rows, _ = self.sizes()
        return linalg.LinearOperatorScaledIdentity(rows, self.tensor(self.numbers()), **hints)

    def _zeros(self, linalg, **hints):
        rows, batch = self.sizes()
        dtype = self.tf.as_dtype(self.dtype)
        return linalg.LinearOperatorZeros(rows, batch_shape=batch, dtype=dtype, **hints)

    def _diag(self, linalg, **hints):
        return linalg.LinearOperatorDiag(self.tensor(self.numbers(SIZE)), **hints)

    def _full_matrix(self, linalg, **hints):
        return linalg.LinearOperatorFullMatrix(self.tensor(self.matrix()), **hints)

    def _definite_matrix(self, linalg, **hints):
        hints = dict({"is_self_adjoint": True, "is_positive_definite": True}, **hints)
        return linalg.LinearOperatorFullMatrix(self.tensor(self.definite()), **hints)

    def _lower_triangular(self, linalg, **hints):
        return linalg.LinearOperatorLowerTriangular(self.tensor(self.matrix()), **hints)

    def _householder(self, linalg, **hints):
        return linalg.LinearOperatorHouseholder(self.tensor(self.numbers(SIZE)), **hints)

    def _toeplitz(self, linalg, **hints):
        row, col = self.numbers(SIZE), self.numbers(SIZE)
        col[..., 0] += 4
        row[..., 0] = col[..., 0]
        return linalg.LinearOperatorToeplitz(self.tensor(col), self.tensor(row), **hints)

    def _circulant(self, linalg, **hints):
        dtype = self.tf.as_dtype(self.dtype)
        spectrum = self.tensor(self.spectrum(SIZE))
        return linalg.LinearOperatorCirculant(spectrum, dtype, **hints)

    def _real_circulant(self, linalg, **hints):
        dtype = self.tf.as_dtype(self.dtype)
        hints = dict({"is_positive_definite": True, "is_self_adjoint": True}, **hints)
        return linalg.LinearOperatorCirculant(self.tensor(self.real_spectrum()), dtype, **hints)

    def _circulant_2d(self, linalg, **hints):
        dtype = self.tf.as_dtype(self.dtype)
        return linalg.LinearOperatorCirculant2D(self.tensor(self.spectrum(2, 2)), dtype, **hints)

    def _circulant_3d(self, linalg, **hints):
        dtype = self.tf.as_dtype(self.dtype)
        spectrum = self.tensor(self.spectrum(1, 2, 2))
        return linalg.LinearOperatorCirculant3D(spectrum, dtype, **hints)

    def _low_rank_update(self, linalg, **hints):
        base = linalg.LinearOperatorDiag(self.tensor(3 + self.numbers(SIZE)))
        u, v, diag = self.numbers(SIZE, 2), self.numbers(SIZE, 2), self.numbers(2)
        return linalg.LinearOperatorLowRankUpdate(
            base, self.tensor(u), self.tensor(diag), self.tensor(v), **hints
        )

    def _definite_update(self, linalg, **hints):
        diag = np.real(self.numbers(SIZE)).astype(self.dtype)
        base = linalg.LinearOperatorDiag(
            self.tensor(diag), is_self_adjoint=True, is_positive_definite=True
        )
        u = self.tensor(self.numbers(SIZE, 2))
        return linalg.LinearOperatorLowRankUpdate(base, u, **hints)

    def _composition(self, linalg, **hints):
        return linalg.LinearOperatorComposition(
            [self._full_matrix(linalg), self._diag(linalg), self._lower_triangular(linalg)], **hints
        )

    def _two(self, linalg, first, second):
        matrices = [self.matrix(n, n) for n in (first, second)]
        return [linalg.LinearOperatorFullMatrix(self.tensor(m), is_square=True) for m in matrices]

    def _kronecker(self, linalg, **hints):
        return linalg.LinearOperatorKronecker(self._two(linalg, 2, 2), **hints)

    def _block_diag(self, linalg, **hints):
        return linalg.LinearOperatorBlockDiag(self._two(linalg, 1, 3), **hints)

    def _adjoint(self, linalg, **hints):
        return linalg.LinearOperatorAdjoint(self._full_matrix(linalg), **hints)

    def _inversion(self, linalg, **hints):
        return linalg.LinearOperatorInversion(self._full_matrix(linalg), **hints)


NAMES = sorted(
    name[1:]
    for name in vars(Maker)
    if name.startswith("_") and not name.startswith("__") and name != "_two"
)
DEFINITE = ("definite_matrix", "definite_update", "identity", "real_circulant")
# dtype, batch shape, and whether static shapes are unknown.
VARIANTS = [
    ("float64", (), False),
    ("float64", (2,), True),
    ("complex128", (), True),
    ("complex128", (2,), False),
]


def outcome(function):
    """What ``function`` gives, or the name of its error."""
    try:
        return function()
    except Exception as error:
        # Kinds of ValueError are Penstock's own.
        kind = ValueError if isinstance(error, ValueError) else type(error)
        return {"error": kind.__name__}


def hints_of(operator):
    found = ""
    for hint in HINTS:
        value = outcome(lambda hint=hint: getattr(operator, hint))
        found += "E" if isinstance(value, dict) else {True: "T", False: "F", None: "-"}[value]
    return found


def told(operator):
    """An operator as text: class, hints, name, and the operators inside."""
    text = f"{type(operator).__name__}[{hints_of(operator)}]{operator.name}"
    inner = list(getattr(operator, "operators", []))
    if hasattr(operator, "operator"):
        inner = [operator.operator]
    return text + ("({})".format(", ".join(map(told, inner))) if inner else "")


# ---- values --------------------------------------------------------------------------------------


def questions(tf, dtype, name, operator):
    """Label to a function that gives a tensor or an operation."""
    asked = {}
    for method in (
        "shape_tensor batch_shape_tensor tensor_rank_tensor domain_dimension_tensor"
        " range_dimension_tensor to_dense determinant log_abs_determinant trace diag_part"
        " assert_non_singular assert_positive_definite assert_self_adjoint"
    ).split():
        asked[method] = getattr(operator, method)
    if hasattr(operator, "convolution_kernel"):
        asked["convolution_kernel"] = operator.convolution_kernel
        asked["block_shape_tensor"] = operator.block_shape_tensor
    kinds = ({}, {"adjoint": True}, {"adjoint": True, "adjoint_arg": True})
    for shape in ((), (3, 1)):
        few = Maker(tf, dtype, shape)
        x = few.numbers(SIZE, 3)
        for method, flags in itertools.product(("matmul", "solve"), kinds):
            given = np.swapaxes(x, -1, -2) if flags.get("adjoint_arg") else x
            label = f"{method} {shape} {sorted(flags)}"
            asked[label] = lambda m=method, g=given, f=flags: getattr(operator, m)(g, **f)
        for method in ("matvec", "solvevec"):
            for flag in (False, True):
                asked[f"{method} {shape} {flag}"] = lambda m=method, f=flag, v=x[..., 0]: getattr(
                    operator, m
                )(v, adjoint=f)
        square = few.numbers(SIZE, SIZE)
        asked[f"add_to_tensor {shape}"] = lambda s=square: operator.add_to_tensor(s)
    for method in ("adjoint", "inverse") + (("cholesky",) if name in DEFINITE else ()):
        asked[method] = lambda m=method: getattr(operator, m)().to_dense()
    return asked


def plain(value):
    """A value as nested lists; complex numbers as pairs."""
    value = np.asarray(value)
    if np.iscomplexobj(value):
        value = np.stack([value.real, value.imag], -1)
    return value.tolist()


def values(tf, name, variant):
    """Answers to all questions about one operator: values, dtypes and static shapes."""
    dtype, batch, dynamic = variant
    answers = {}
    with tf.Graph().as_default(), tf.Session() as session:
        operator = Maker(tf, dtype, batch, dynamic).make(name)
        answers["told"] = told(operator)
        answers["static"] = str(operator.shape)
        tensors = {}
        for label, function in questions(tf, dtype, name, operator).items():
            made = outcome(function)
            if isinstance(made, dict):
                answers[label] = made
            elif isinstance(made, tf.Operation):
                answers[label] = outcome(lambda made=made: {"ran": session.run(made)})
            else:
                tensors[label] = made
        results, failed = {}, {}
        try:
            results = session.run(tensors)
        except Exception:
            for label, tensor in tensors.items():
                found = outcome(lambda tensor=tensor: session.run(tensor))
                (failed if isinstance(found, dict) else results)[label] = found
        answers.update(failed)
        for label, value in results.items():
            static = tensors[label].shape
            dims = None if static.ndims is None else static.as_list()
            answers[label] = {
                "dtype": tensors[label].dtype.name,
                "static": dims,
                "value": plain(value),
            }
    return answers


# ---- hints, and operators made of operators ------------------------------------------------------


def combinations():
    for flags in itertools.product((None, True, False), repeat=4):
        yield dict(zip(HINTS, flags))


def short(hints):
    return "".join({None: "-", True: "T", False: "F"}[value] for value in hints.values())


def all_hints(tf, name, dtype):
    """Hints given to hints found, of one class."""
    with tf.Graph().as_default():
        return {
            short(hints): outcome(lambda h=hints: hints_of(Maker(tf, dtype).make(name, **h)))
            for hints in combinations()
        }


GIVEN = (
    {},
    {"is_non_singular": True},
    {"is_non_singular": False},
    {"is_self_adjoint": True},
    {"is_positive_definite": True},
    {"is_positive_definite": True, "is_self_adjoint": True},
    {"is_square": True},
)


def made_of_one(tf, name, dtype):
    """Adjoint, inverse and Cholesky factor: their classes, hints and names."""
    answers = {}
    for hints in GIVEN:
        with tf.Graph().as_default():
            operator = outcome(lambda hints=hints: Maker(tf, dtype).make(name, **hints))
            if isinstance(operator, dict):
                continue
            for method in ("adjoint", "inverse", "cholesky"):
                made = outcome(lambda m=method, o=operator: getattr(o, m)())
                same = "itself" if made is operator else None
                told_of = made if isinstance(made, dict) else same or told(made)
                answers[f"{sorted(hints.items())} {method}"] = told_of
    return answers


def made_of_two(tf, name, dtype):
    """Products and solutions with operators of every class: their classes, hints and names."""
    answers = {}
    for hints in (GIVEN[0], GIVEN[1], GIVEN[2], GIVEN[5]):
        with tf.Graph().as_default():
            answers.update(_products(tf, name, dtype, hints))
    return answers


def _products(tf, name, dtype, hints):
    answers = {}
    left = outcome(lambda: Maker(tf, dtype).make(name, **hints))
    for other in NAMES if not isinstance(left, dict) else ():
        right = outcome(lambda other=other: Maker(tf, dtype).make(other, **hints))
        if isinstance(right, dict):
            continue
        for method in ("matmul", "solve"):
            made = outcome(lambda m=method, y=right: getattr(left, m)(y))
            label = f"{method} {other} {sorted(hints.items())}"
            answers[label] = made if isinstance(made, dict) else told(made)
    return answers


SHAPES = (None, [None, None], [None, 3, 3], [2, 3, None], [3, 3], [None], [3], [2, 1, 3, 3])


def of_shape(tf, shape):
    """Kind to a function that builds an operator over a tensor of ``shape``."""
    linalg = tf.linalg
    x = tf.placeholder("float32", shape)
    full = linalg.LinearOperatorFullMatrix
    fixed = full(np.ones([5, 1, 3, 3], "float32"))
    u = x if shape is None or len(shape) > 1 else [[1.0]] * 3
    return {
        "full_matrix": lambda: full(x),
        "lower_triangular": lambda: linalg.LinearOperatorLowerTriangular(x),
        "diag": lambda: linalg.LinearOperatorDiag(x),
        "householder": lambda: linalg.LinearOperatorHouseholder(x),
        "toeplitz": lambda: linalg.LinearOperatorToeplitz(x, x),
        "circulant": lambda: linalg.LinearOperatorCirculant(x),
        "circulant_2d": lambda: linalg.LinearOperatorCirculant2D(x),
        "circulant_3d": lambda: linalg.LinearOperatorCirculant3D(x),
        "scaled_identity": lambda: linalg.LinearOperatorScaledIdentity(3, x),
        "adjoint": lambda: linalg.LinearOperatorAdjoint(full(x)),
        "inversion": lambda: linalg.LinearOperatorInversion(full(x)),
        "composition": lambda: linalg.LinearOperatorComposition([full(x), fixed]),
        "kronecker": lambda: linalg.LinearOperatorKronecker([full(x), fixed]),
        "block_diag": lambda: linalg.LinearOperatorBlockDiag([full(x, is_square=True), fixed]),
        "low_rank_update": lambda: linalg.LinearOperatorLowRankUpdate(fixed, u),
    }


DESCRIBED = ("shape", "batch_shape", "tensor_rank", "domain_dimension", "range_dimension")


def described(operator):
    """The static shapes, and the hints."""
    shapes = [str(outcome(lambda a=a: getattr(operator, a))) for a in DESCRIBED]
    return shapes + [hints_of(operator)]


def known_shapes(tf):
    """Static shapes of operators over tensors of partly known ones."""
    answers = {}
    with tf.Graph().as_default():
        for shape in SHAPES:
            for kind, build in of_shape(tf, shape).items():
                operator = outcome(build)
                made = operator if isinstance(operator, dict) else described(operator)
                answers[f"{kind} {shape}"] = made
    return answers


# ---- mistakes ------------------------------------------------------------------------------------


def mistakes(tf):
    """Label to a function that must fail."""
    linalg = tf.linalg
    full = linalg.LinearOperatorFullMatrix
    ones = np.ones
    wide = full(ones([3, 4], "float32"))
    square = full(ones([3, 3], "float32"))
    double = full(ones([3, 3]))
    diag = linalg.LinearOperatorDiag
    definite = {"is_self_adjoint": True, "is_positive_definite": True}
    found = {
        "scalar matrix": lambda: full(1.0),
        "vector matrix": lambda: full([1.0]),
        "integer matrix": lambda: full([[1, 2], [3, 4]]),
        "string matrix": lambda: full([["a"]]),
        "scalar diag": lambda: diag(1.0),
        "vector tril": lambda: linalg.LinearOperatorLowerTriangular([1.0]),
        "scalar axis": lambda: linalg.LinearOperatorHouseholder(1.0),
        "scalar spectrum": lambda: linalg.LinearOperatorCirculant(1.0),
        "vector spectrum 2d": lambda: linalg.LinearOperatorCirculant2D([1.0]),
        "matrix spectrum 3d": lambda: linalg.LinearOperatorCirculant3D([[1.0]]),
        "scalar row": lambda: linalg.LinearOperatorToeplitz([1.0], 1.0),
        "unequal row": lambda: linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 2.0, 3.0]),
        "row of another dtype": lambda: linalg.LinearOperatorToeplitz(ones(3, "float32"), ones(3)),
        "no matrix": lambda: full(None),
        "fractional rows": lambda: linalg.LinearOperatorIdentity(2.0),
        "negative rows": lambda: linalg.LinearOperatorIdentity(-1),
        "vector of rows": lambda: linalg.LinearOperatorIdentity([2]),
        "no rows": lambda: linalg.LinearOperatorIdentity(None),
        "matrix of batches": lambda: linalg.LinearOperatorIdentity(2, [[2]]),
        "scalar batch": lambda: linalg.LinearOperatorIdentity(2, 2),
        "negative batch": lambda: linalg.LinearOperatorIdentity(2, [-1]),
        "fractional batch": lambda: linalg.LinearOperatorIdentity(2, [2.0]),
        "negative scaled": lambda: linalg.LinearOperatorScaledIdentity(-1, 1.0),
        "fractional scaled": lambda: linalg.LinearOperatorScaledIdentity(1.0, 1.0),
        "negative zeros": lambda: linalg.LinearOperatorZeros(2, -1),
        "fractional zeros": lambda: linalg.LinearOperatorZeros(2, 2.0),
        "unequal zeros": lambda: linalg.LinearOperatorZeros(2, 3),
        "unequal zeros, self-adjoint": lambda: linalg.LinearOperatorZeros(2, 3, is_square=False),
        "singular inverse": lambda: full(ones([3, 3]), is_non_singular=False).inverse(),
        "singular inversion": lambda: linalg.LinearOperatorInversion(
            full(ones([3, 3]), is_non_singular=False)
        ),
        "wide inversion": lambda: linalg.LinearOperatorInversion(wide),
        "adjoint singular": lambda: linalg.LinearOperatorAdjoint(
            full(ones([3, 3]), is_non_singular=False), is_non_singular=True
        ),
        "adjoint not square": lambda: linalg.LinearOperatorAdjoint(square, is_square=False),
        "adjoint not definite": lambda: linalg.LinearOperatorAdjoint(
            full(ones([3, 3]), **definite), is_positive_definite=False
        ),
        "inversion not self-adjoint": lambda: linalg.LinearOperatorInversion(
            diag([1.0]), is_self_adjoint=False
        ),
        "singular solve": lambda: full(ones([3, 3]), is_non_singular=False).solve(ones([3, 1])),
        "default diagonal not positive": lambda: linalg.LinearOperatorLowRankUpdate(
            square, ones([3, 1], "float32"), is_diag_update_positive=False
        ),
        "update of another height": lambda: linalg.LinearOperatorLowRankUpdate(
            square, ones([2, 1], "float32")
        ),
        "update of another rank": lambda: linalg.LinearOperatorLowRankUpdate(
            square, ones([3, 1], "float32"), [1.0, 2.0]
        ),
        "update with other v": lambda: linalg.LinearOperatorLowRankUpdate(
            square, ones([3, 1], "float32"), v=ones([2, 1], "float32")
        ),
        "definite update, hinted singular": lambda: linalg.LinearOperatorLowRankUpdate(
            diag([1.0, 2.0], is_positive_definite=True), [[1.0], [2.0]], is_non_singular=False
        ),
        "definite update, hinted indefinite": lambda: linalg.LinearOperatorLowRankUpdate(
            diag([1.0, 2.0], is_positive_definite=True),
            [[1.0], [2.0]],
            is_positive_definite=False,
        ),
        "self-adjoint update": lambda: linalg.LinearOperatorLowRankUpdate(
            diag([1.0, 2.0]), [[1.0], [2.0]], is_self_adjoint=False
        ),
        "matmul of another dtype": lambda: square.matmul(ones([3, 1])),
        "matmul of another height": lambda: square.matmul(ones([2, 1], "float32")),
        "adjoint matmul of another height": lambda: wide.matmul(
            ones([4, 1], "float32"), adjoint=True
        ),
        "adjoint_arg of another height": lambda: square.matmul(
            ones([3, 2], "float32"), adjoint_arg=True
        ),
        "matvec of another height": lambda: square.matvec(ones([2], "float32")),
        "solve of another height": lambda: square.solve(ones([2, 1], "float32")),
        "add of another dtype": lambda: square.add_to_tensor(ones([3, 3])),
        "add of another shape": lambda: wide.add_to_tensor(ones([3, 3], "float32")),
        "operators that do not fit": lambda: wide.matmul(wide),
        "solution that does not fit": lambda: square.solve(full(ones([4, 3], "float32"))),
        "product of two dtypes": lambda: square.matmul(double),
        "zeros with wide": lambda: linalg.LinearOperatorZeros(3).matmul(wide),
        "wide with zeros": lambda: wide.matmul(linalg.LinearOperatorZeros(4)),
        "wrong parents": lambda: _custom(tf)(graph_parents=[None]),
        "abstract": lambda: linalg.LinearOperator("float32"),
    }
    for method in (
        "determinant",
        "log_abs_determinant",
        "inverse",
        "cholesky",
        "assert_positive_definite",
        "assert_self_adjoint",
    ):
        found["wide " + method] = getattr(wide, method)
    for method in ("solve", "solvevec"):
        found["wide " + method] = lambda m=method: getattr(wide, m)(ones([3, 1], "float32"))
    for name in ("Composition", "BlockDiag", "Kronecker"):
        kind = getattr(linalg, "LinearOperator" + name)
        found[name + " of none"] = lambda kind=kind: kind([])
        found[name + " of two dtypes"] = lambda kind=kind: kind([square, double])
        found[name + " of a number"] = lambda kind=kind: kind([1.0])
        found[name + " of no list"] = lambda kind=kind: kind(square)
        batches = [full(ones([n, 3, 3])) for n in (2, 3)]
        found[name + " of batches"] = lambda kind=kind, b=batches: kind(b).shape
        for hint in HINTS[: 1 if name == "Composition" else 3]:
            sure = [full(ones([3, 3]), is_non_singular=True, **definite)] * 2
            found[f"{name}, not {hint}"] = lambda kind=kind, hint=hint, sure=sure: (
                kind(sure, **{hint: False}) and "made"
            )
    found["BlockDiag of wide"] = lambda: linalg.LinearOperatorBlockDiag([wide])
    found["Composition of unfit"] = lambda: linalg.LinearOperatorComposition([wide, wide]).shape
    return found


def _custom(tf):
    class Double(tf.linalg.LinearOperator):
        def __init__(self, **arguments):
            super().__init__(dtype=tf.float64, **arguments)

        def _shape(self):
            return tf.TensorShape([3, 3])

        def _shape_tensor(self):
            return tf.constant([3, 3])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            return 2 * (tf.linalg.adjoint(x) if adjoint_arg else x)

    return Double


def custom_values(tf):
    """An operator of one's own: everything follows from how it multiplies."""
    answers = {}
    with tf.Graph().as_default(), tf.Session() as session:
        for hints in ({}, {"is_self_adjoint": True, "is_positive_definite": True}):
            operator = _custom(tf)(**hints)
            label = len(hints)
            answers[f"{label} told"] = told(operator)
            for method in ("to_dense", "trace", "determinant", "log_abs_determinant", "diag_part"):
                value = session.run(getattr(operator, method)())
                answers[f"{label} {method}"] = plain(value)
            for method in ("matmul", "solve", "add_to_tensor"):
                value = session.run(getattr(operator, method)(np.arange(9.0).reshape(3, 3)))
                answers[f"{label} {method}"] = plain(value)
            answers[f"{label} inverse"] = told(operator.inverse())
            answers[f"{label} adjoint"] = told(operator.adjoint())
    return answers


def error_kinds(tf):
    answers = {}
    with tf.Graph().as_default():
        for label, function in mistakes(tf).items():
            made = outcome(function)
            answers[label] = made if isinstance(made, dict) else {"made": str(type(made).__name__)}
    return answers


def everything(tf):
    found = {"shapes": known_shapes(tf), "errors": error_kinds(tf), "custom": custom_values(tf)}
    for name in NAMES:
        for variant in VARIANTS:
            found[f"values {name} {variant}"] = values(tf, name, variant)
        for dtype in ("float64", "complex128"):
            found[f"hints {name} {dtype}"] = all_hints(tf, name, dtype)
            found[f"one {name} {dtype}"] = made_of_one(tf, name, dtype)
        found[f"two {name}"] = made_of_two(tf, name, "float64")
    return found


if __name__ == "__main__":
    import tensorflow

    if not hasattr(tensorflow.linalg, "LinearOperatorDiag"):
        raise SystemExit("this TensorFlow has no linear operators")
    tensorflow.compat.v1.logging.set_verbosity("ERROR")
    with open(sys.argv[1], "w") as file:
        json.dump(everything(tensorflow), file)
