"""Programs of ``tf.contrib.distributions.bijectors`` (``recorded``)."""

import numpy as np

from tests.contrib.recorded import names, refused, values

LOWER = [[[2.0, 0.0], [1.0, 0.5]], [[1.0, 0.0], [-3.0, 2.0]]]
REALS = [[-1.5, 0.25, 2.0], [0.5, -0.125, 1.0]]
UNIT = [[0.125, 0.5, 0.75], [0.0625, 0.25, 0.9375]]


def _networks(tf):
    """Shifts and logarithms of scales without variables, number i from those before it."""

    def autoregressive(y):
        before = tf.cumsum(y, axis=-1, exclusive=True)
        return tf.sin(before), 0.25 * before

    def coupling(x, units):
        total = tf.reduce_sum(x, -1, keepdims=True) + tf.zeros([units])
        return tf.sin(total), 0.5 * total

    return autoregressive, coupling


# Name, how it is made of the package, an x, and the dims of an event of x and of y.
MADE = {
    "Identity": (lambda tf, b: b.Identity(), REALS, 0, 0),
    "Exp": (lambda tf, b: b.Exp(validate_args=True), REALS, 0, 0),
    "PowerTransform": (lambda tf, b: b.PowerTransform(0.5, True), UNIT, 1, 1),
    "PowerTransform_of_0": (lambda tf, b: b.PowerTransform(), REALS, 1, 1),
    "Sigmoid": (lambda tf, b: b.Sigmoid(), REALS, 0, 0),
    "Softplus": (lambda tf, b: b.Softplus(), REALS, 0, 0),
    "Softplus_softer": (lambda tf, b: b.Softplus(2.0, True), REALS, 1, 1),
    "Softsign": (lambda tf, b: b.Softsign(True), REALS, 0, 0),
    "Square": (lambda tf, b: b.Square(True), UNIT, 1, 1),
    "Gumbel": (lambda tf, b: b.Gumbel(0.5, 2.0, True), REALS, 0, 0),
    "Kumaraswamy": (lambda tf, b: b.Kumaraswamy(2.0, 1.5, True), UNIT, 0, 0),
    "SinhArcsinh": (lambda tf, b: b.SinhArcsinh(0.5, 1.5, True), REALS, 0, 0),
    "SinhArcsinh_plain": (lambda tf, b: b.SinhArcsinh(), REALS, 1, 1),
    "AffineScalar": (lambda tf, b: b.AffineScalar([1.0, 2.0, 3.0], -2.0, True), REALS, 0, 0),
    "AffineScalar_shift": (lambda tf, b: b.AffineScalar(1.0), REALS, 2, 2),
    "Affine_identity": (lambda tf, b: b.Affine(shift=[1.0, 2.0, 3.0]), REALS, 1, 1),
    "Affine_multiple": (lambda tf, b: b.Affine(scale_identity_multiplier=-2.0), REALS, 1, 1),
    "Affine_diag": (
        lambda tf, b: b.Affine([1.0, 2.0, 3.0], scale_diag=[1.0, -2.0, 3.0], validate_args=True),
        REALS, 1, 1,
    ),
    "Affine_both": (
        lambda tf, b: b.Affine(scale_identity_multiplier=2.0, scale_diag=[1.0, -1.0, 3.0]),
        REALS, 2, 2,
    ),
    "Affine_tril": (
        lambda tf, b: b.Affine([1.0, 2.0], scale_tril=LOWER, scale_diag=[1.0, 1.0]),
        [[0.5, 1.0], [2.0, -3.0]], 1, 1,
    ),
    "Affine_perturbed": (
        lambda tf, b: b.Affine(
            scale_diag=[1.0, 2.0, 3.0],
            scale_perturb_factor=[[1.0, 0.5], [0.0, 2.0], [1.0, 1.0]],
            scale_perturb_diag=[2.0, 0.5],
        ),
        REALS, 1, 1,
    ),
    "Affine_perturbed_identity": (
        lambda tf, b: b.Affine([1.0, 2.0, 3.0], scale_perturb_factor=[[1.0], [0.0], [1.0]]),
        REALS, 1, 1,
    ),
    "AffineLinearOperator": (
        lambda tf, b: b.AffineLinearOperator(
            [1.0, 2.0], tf.linalg.LinearOperatorLowerTriangular(LOWER, is_non_singular=True), True
        ),
        [[0.5, 1.0], [2.0, -3.0]], 1, 1,
    ),
    "Permute": (lambda tf, b: b.Permute([2, 0, 1], True), REALS, 1, 1),
    "Reshape": (lambda tf, b: b.Reshape([-1, 1], [3]), REALS, 1, 2),
    "SoftmaxCentered": (lambda tf, b: b.SoftmaxCentered(True), REALS, 1, 1),
    "Ordered": (lambda tf, b: b.Ordered(True), UNIT, 1, 1),
    "FillTriangular": (lambda tf, b: b.FillTriangular(), REALS, 1, 2),
    "FillTriangular_upper": (lambda tf, b: b.FillTriangular(upper=True), REALS, 1, 2),
    "TransformDiagonal": (lambda tf, b: b.TransformDiagonal(b.Exp()), LOWER, 2, 2),
    "ScaleTriL": (lambda tf, b: b.ScaleTriL(), REALS, 1, 2),
    "ScaleTriL_exp": (lambda tf, b: b.ScaleTriL(b.Exp(), None), REALS, 1, 2),
    "CholeskyOuterProduct": (lambda tf, b: b.CholeskyOuterProduct(True), LOWER, 2, 2),
    "MatrixInverseTriL": (lambda tf, b: b.MatrixInverseTriL(True), LOWER, 2, 2),
    "Invert": (lambda tf, b: b.Invert(b.Exp()), UNIT, 1, 1),
    "Invert_shapes": (lambda tf, b: b.Invert(b.Invert(b.SoftmaxCentered())), REALS, 1, 1),
    "Chain": (
        lambda tf, b: b.Chain([b.AffineScalar(1.0, 2.0), b.SoftmaxCentered(), b.Exp()]),
        UNIT, 1, 1,
    ),
    "Chain_empty": (lambda tf, b: b.Chain(), REALS, 0, 0),
    "Chain_of_matrices": (
        lambda tf, b: b.Chain([b.CholeskyOuterProduct(), b.ScaleTriL()]), REALS, 1, 2
    ),
    "Inline": (
        lambda tf, b: b.Inline(
            forward_fn=tf.exp,
            inverse_fn=tf.log,
            inverse_log_det_jacobian_fn=lambda y: -tf.log(y),
            forward_min_event_ndims=0,
            name="by_hand",
        ),
        REALS, 0, 0,
    ),
    "MaskedAutoregressiveFlow": (
        lambda tf, b: b.MaskedAutoregressiveFlow(_networks(tf)[0]), REALS, 1, 1
    ),
    "MaskedAutoregressiveFlow_unrolled": (
        lambda tf, b: b.MaskedAutoregressiveFlow(_networks(tf)[0], unroll_loop=True, name="maf"),
        REALS, 2, 2,
    ),
    "RealNVP": (lambda tf, b: b.RealNVP(1, _networks(tf)[1]), REALS, 1, 1),
}  # fmt: skip


def _case(name):
    make, given, before, after = MADE[name]

    def case(tf):
        made = make(tf, tf.contrib.distributions.bijectors)
        found = [made.name, made.is_constant_jacobian, str(made.dtype)]
        found += [made.forward_min_event_ndims, made.inverse_min_event_ndims]
        kind = tf.constant(given)
        y = made.forward(kind)
        event = kind.shape[kind.shape.ndims - before :]
        found += [y.shape.as_list(), made.forward_event_shape(event).as_list()]
        outer = y.shape[y.shape.ndims - after :]
        found += [made.inverse_event_shape(outer).as_list(), made.inverse(y) is kind]
        again = tf.identity(y)
        x = made.inverse(again)
        tensors = [y, x, made.forward_log_det_jacobian(kind, before)]
        tensors.append(made.inverse_log_det_jacobian(again, after))
        tensors.append(made.forward_event_shape_tensor(event.as_list()))
        tensors.append(made.inverse_event_shape_tensor(outer.as_list()))
        found += [x.shape.as_list(), tensors[2].shape.as_list(), tensors[3].shape.as_list()]
        tensors += tf.gradients(tf.reduce_sum(tf.sin(y)) + tf.reduce_sum(tensors[2]), [kind])
        # Of a shape that is not known while the graph is built.
        fed = tf.placeholder(tf.float32)
        open_ndims = tf.placeholder_with_default(before, [])
        if "unrolled" not in name and "RealNVP" not in name and "Reshape" not in name:
            tensors += [made.forward(fed), made.forward_log_det_jacobian(fed, open_ndims)]
        return [*found, values(tf, tensors, {fed: given})]

    return case


for _name in MADE:
    globals()["case_" + _name] = _case(_name)


def case_AbsoluteValue(tf):
    made = tf.contrib.distributions.bijectors.AbsoluteValue(validate_args=True)
    tensors = [made.forward(REALS), made.inverse(UNIT), made.inverse_log_det_jacobian(UNIT, 1)]
    found = refused(lambda: made.forward_log_det_jacobian(REALS, 1), "non-injective")
    return [made.name, found, values(tf, tensors)]


def case_names_of_nodes(tf):
    b = tf.contrib.distributions.bijectors
    found = []
    for made in (b.Exp(), b.Affine([1.0]), b.Chain([b.Exp(), b.Sigmoid(name="inner")])):
        for method in ("forward", "inverse"):
            found.append(getattr(made, method)([0.5]).name.rsplit("/", 1)[0])
        found.append(made.forward([0.25], name="mine").name.split("/")[:2])
    return found


def case_variables_of_templates(tf):
    b = tf.contrib.distributions.bijectors
    masked = b.masked_autoregressive_default_template(hidden_layers=[6, 6])
    coupling = b.real_nvp_default_template([4], shift_only=True, name="mine")
    x = tf.constant(REALS)
    first, second = masked(x), masked(2.0 * x)
    shift, log_scale = coupling(x[:, :1], 2)
    b.RealNVP(2, coupling)
    b.BatchNormalization().inverse(x)
    shapes = [v.shape.as_list() for v in tf.global_variables()]
    outs = [t.shape.as_list() for t in (*first, *second, shift)]
    return [names(tf.global_variables()), shapes, outs, log_scale is None]


def case_masks(tf):
    b = tf.contrib.distributions.bijectors
    ones = tf.ones_initializer()
    x = tf.constant([[1.0, 10.0, 100.0, 1000.0]])
    found = [b.masked_dense(x, 4, blocks, exclusive, kernel_initializer=ones)
             for blocks in (1, 2, 4) for exclusive in (False, True)]  # fmt: skip
    found.append(b.masked_dense(x, 8, 4, True, ones, name="wide", use_bias=False))
    return [values(tf, found), names(tf.trainable_variables())]


def case_masked_network_depends_on_what_is_before(tf):
    b = tf.contrib.distributions.bijectors
    network = b.masked_autoregressive_default_template([8, 8], activation=tf.nn.tanh)
    x = tf.constant([[0.5, -1.0, 2.0]])
    shift, log_scale = network(x)
    found = []
    for part in (shift, log_scale):
        for i in range(3):
            found.append(tf.not_equal(tf.gradients(part[0, i], x)[0], 0.0))
    before = np.array(values(tf, found))
    return [bool(before[i % 3, 0, j]) and j >= i % 3 for i in range(6) for j in range(3)]


def case_batch_normalization(tf):
    made = tf.contrib.distributions.bijectors.BatchNormalization()
    y = tf.constant(REALS)
    trained = [made.inverse(y), made.inverse_log_det_jacobian(y, 1)]
    saved = tf.contrib.distributions.bijectors.BatchNormalization(
        tf.layers.BatchNormalization(
            beta_initializer=tf.constant_initializer(0.5),
            gamma_initializer=tf.constant_initializer(2.0),
            moving_variance_initializer=tf.constant_initializer(3.0),
        ),
        training=False,
    )
    found = [saved.forward(y), saved.forward_log_det_jacobian(y, 1)]
    again = tf.identity(found[0])
    found += [saved.inverse(again), saved.inverse_log_det_jacobian(again, 1)]
    return [made.name, made.forward_min_event_ndims, values(tf, trained), values(tf, found)]


def case_what_is_refused(tf):
    b = tf.contrib.distributions.bijectors
    exp = b.Exp()

    class Bare(b.Bijector):
        def __init__(self, **given):
            super().__init__(**given)

    return [
        refused(lambda: b.Bijector(forward_min_event_ndims=0), "abstract class"),
        refused(lambda: Bare(), "Must specify at least one of"),
        refused(lambda: Bare(forward_min_event_ndims=-1), "must be a non-negative integer."),
        refused(lambda: Bare(forward_min_event_ndims=1.5), "Expected forward_min_event_ndims"),
        refused(lambda: Bare(forward_min_event_ndims=0).forward(1.0), "not implemented"),
        refused(lambda: Bare(forward_min_event_ndims=0).inverse(1.0), "not implemented"),
        refused(lambda: exp.forward_log_det_jacobian(1.0, -1), "must be larger than min_event"),
        refused(lambda: exp.forward_log_det_jacobian(1.0, 1.0), "Expected integer dtype"),
        refused(lambda: exp.forward_log_det_jacobian(1.0, [0]), "Expected scalar event_ndims"),
        refused(lambda: b.Affine(scale_perturb_diag=[1.0]), "scale_perturb_factor must be"),
        refused(lambda: b.Affine([1.0]).forward(np.zeros(1)), "but expected"),
        refused(lambda: b.Permute([0, 2]), "must contain exactly one of each of"),
        refused(lambda: b.Permute([0.0, 1.0]), "should be `int`-like"),
        refused(lambda: b.PowerTransform(-1.0), "must be a non-negative TF constant"),
        refused(lambda: b.Reshape([2.0, 1.0]), "should be `int`-like"),
        refused(lambda: b.Reshape([6], [2, 3]).forward(np.zeros([3, 2])), "does not match"),
        refused(lambda: b.RealNVP(-1, None), "num_masked must be a positive integer"),
        refused(lambda: b.RealNVP(3, None).forward(REALS), "must be smaller than the event size"),
        refused(lambda: b.Invert(b.AbsoluteValue()), "non-injective"),
        refused(lambda: b.Chain([b.AbsoluteValue()]), "non-injective"),
        refused(lambda: b.Inline(forward_min_event_ndims=0).forward(1.0), "not a callable"),
        refused(lambda: b.BatchNormalization(tf.layers.BatchNormalization(renorm=True)), "renorm"),
        refused(lambda: b.FillTriangular().forward(np.zeros(5)), "triangular"),
    ]


def case_what_steps_refuse(tf):
    b = tf.contrib.distributions.bijectors
    bad = [
        lambda: b.AbsoluteValue(True).inverse(-1.0)[0],
        lambda: b.Exp(True).inverse(-1.0),
        lambda: b.Softplus(0.0, True).forward(1.0),
        lambda: b.Softsign(True).inverse(1.5),
        lambda: b.Square(True).forward(-1.0),
        lambda: b.Gumbel(0.0, -1.0, True).forward(1.0),
        lambda: b.Gumbel(validate_args=True).inverse(1.5),
        lambda: b.Kumaraswamy(-1.0, 1.0, True).forward(0.5),
        lambda: b.SinhArcsinh(0.0, -1.0, True).forward(1.0),
        lambda: b.AffineScalar(scale=0.0, validate_args=True).forward(1.0),
        lambda: b.Affine(scale_diag=[1.0, 0.0], validate_args=True).forward([1.0, 1.0]),
        lambda: b.Ordered(True).forward([1.0, 0.5]),
        lambda: b.CholeskyOuterProduct(True).forward_log_det_jacobian([[-1.0, 2.0], [0.0, 1.0]], 2),
        lambda: b.MatrixInverseTriL(True).forward([[1.0, 2.0], [0.0, 1.0]]),
    ]
    return [refused(lambda make=make: values(tf, make())) for make in bad]


def case_conditional(tf):
    class Times(tf.contrib.distributions.bijectors.ConditionalBijector):
        def __init__(self, **given):
            super().__init__(**given)

        def _forward(self, x, by=1.0):
            return x * by

        def _inverse(self, y, by=1.0):
            return y / by

        def _forward_log_det_jacobian(self, x, by=1.0):
            return tf.log(by) + tf.zeros_like(x)

        def _inverse_log_det_jacobian(self, y, by=1.0):
            return -tf.log(by) + tf.zeros_like(y)

    made = Times(forward_min_event_ndims=0)
    x = tf.constant(REALS)
    found = [made.forward(x, by=2.0), made.inverse(x, by=4.0)]
    found.append(made.forward_log_det_jacobian(x, 1, by=2.0))
    found.append(made.inverse_log_det_jacobian(x, 0, by=2.0))
    return [made.name, values(tf, found)]
