"""TensorFlow Probability's bijectors: both ways, and the log determinants of both."""

import json

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

tfb = tfp.bijectors
# Of these one object's answers depend on which of its tensors still live.
APART = ("BatchNormalization",)


def f(*v):
    return np.array(v, np.float32)


X2 = f([0.3, -0.5], [1.2, 0.1])
P2 = f([0.3, 0.5], [1.2, 0.1])
CASES = {
    "AbsoluteValue": (lambda: tfb.AbsoluteValue(), X2, 0),
    "Affine": (lambda: tfb.Affine(shift=f(1, 2), scale_diag=f(2, 3)), X2, 1),
    "AffineTriL": (lambda: tfb.Affine(shift=f(1, 2), scale_tril=f([1, 0], [0.5, 2])), X2, 1),
    "AffineLinearOperator": (
        lambda: tfb.AffineLinearOperator(
            f(1, 2), tf.linalg.LinearOperatorLowerTriangular(f([1, 0], [0.5, 2]))
        ),
        X2,
        1,
    ),
    "AffineScalar": (lambda: tfb.AffineScalar(1.0, 2.0), X2, 0),
    "BatchNormalization": (lambda: tfb.BatchNormalization(training=False), X2, 1),
    "Blockwise": (lambda: tfb.Blockwise([tfb.Exp(), tfb.Softplus()], [1, 1]), X2, 1),
    "Chain": (lambda: tfb.Chain([tfb.Exp(), tfb.AffineScalar(1.0, 2.0)]), X2, 0),
    "CholeskyOuterProduct": (lambda: tfb.CholeskyOuterProduct(), f([1, 0], [0.5, 2]), 2),
    "CholeskyToInvCholesky": (lambda: tfb.CholeskyToInvCholesky(), f([1, 0], [0.5, 2]), 2),
    "CorrelationCholesky": (lambda: tfb.CorrelationCholesky(), f(0.1, 0.2, -0.3), 1),
    "Cumsum": (lambda: tfb.Cumsum(), X2, 1),
    "DiscreteCosineTransform": (lambda: tfb.DiscreteCosineTransform(), X2, 1),
    "Exp": (lambda: tfb.Exp(), X2, 0),
    "Expm1": (lambda: tfb.Expm1(), X2, 0),
    "FillTriangular": (lambda: tfb.FillTriangular(), f(0.1, 0.2, -0.3), 1),
    "Gumbel": (lambda: tfb.Gumbel(), X2, 0),
    "Identity": (lambda: tfb.Identity(), X2, 0),
    "Inline": (
        lambda: tfb.Inline(
            forward_fn=tf.exp,
            inverse_fn=tf.math.log,
            inverse_log_det_jacobian_fn=lambda y: -tf.math.log(y),
            forward_min_event_ndims=0,
        ),
        X2,
        0,
    ),
    "Invert": (lambda: tfb.Invert(tfb.Exp()), P2, 0),
    "IteratedSigmoidCentered": (lambda: tfb.IteratedSigmoidCentered(), X2, 1),
    "Kumaraswamy": (lambda: tfb.Kumaraswamy(2.0, 3.0), P2 * 0.5, 0),
    "MaskedAutoregressiveFlow": (
        lambda: tfb.MaskedAutoregressiveFlow(
            lambda x: (
                tf.concat([x[..., :1] * 0, x[..., :1] * 0.5], -1),
                tf.concat([x[..., :1] * 0, x[..., :1] * 0.1], -1),
            )
        ),
        X2,
        1,
    ),
    "MatrixInverseTriL": (lambda: tfb.MatrixInverseTriL(), f([1, 0], [0.5, 2]), 2),
    "MatvecLU": (lambda: tfb.MatvecLU(f([2, 0.5], [0.3, 1.5]), [1, 0]), X2, 1),
    "NormalCDF": (lambda: tfb.NormalCDF(), X2, 0),
    "Ordered": (lambda: tfb.Ordered(), f([0.1, 0.3], [1.2, 1.5]), 1),
    "Permute": (lambda: tfb.Permute([1, 0]), X2, 1),
    "PowerTransform": (lambda: tfb.PowerTransform(0.5), X2, 0),
    "RationalQuadraticSpline": (
        lambda: tfb.RationalQuadraticSpline(f(1, 1), f(1.5, 0.5), f(0.9)),
        f(0.1, 0.5),
        0,
    ),
    "RealNVP": (
        lambda: tfb.RealNVP(1, shift_and_log_scale_fn=lambda x, n, **k: (x * 0.5, x * 0.1)),
        X2,
        1,
    ),
    "Reciprocal": (lambda: tfb.Reciprocal(), P2, 0),
    "Reshape": (lambda: tfb.Reshape([2, 1], [2]), X2, 1),
    "ScaleMatvecLU": (lambda: tfb.ScaleMatvecLU(f([2, 0.5], [0.3, 1.5]), [1, 0]), X2, 1),
    "ScaleTriL": (lambda: tfb.ScaleTriL(), f(0.1, 0.2, -0.3), 1),
    "Sigmoid": (lambda: tfb.Sigmoid(), X2, 0),
    "SinhArcsinh": (lambda: tfb.SinhArcsinh(0.1, 1.2), X2, 0),
    "SoftmaxCentered": (lambda: tfb.SoftmaxCentered(), X2, 1),
    "Softplus": (lambda: tfb.Softplus(), X2, 0),
    "SoftplusHinge": (lambda: tfb.Softplus(hinge_softness=f(0.5, 2)), X2, 0),
    "Softsign": (lambda: tfb.Softsign(), X2, 0),
    "Square": (lambda: tfb.Square(), P2, 0),
    "Tanh": (lambda: tfb.Tanh(), X2, 0),
    "TransformDiagonal": (lambda: tfb.TransformDiagonal(tfb.Exp()), f([1, 0], [0.5, 2]), 2),
    "Transpose": (lambda: tfb.Transpose([1, 0]), X2, 2),
    "Weibull": (lambda: tfb.Weibull(2.0, 1.5), P2, 0),
}


def told(session, make, value, event_dims):
    """What a bijector makes of a value."""
    bijector, x = make(), tf.constant(value)
    whole = max(event_dims, 1)

    def ask(function):
        try:
            made = function(bijector)
            session.run(tf.global_variables_initializer())
            return np.asarray(session.run(made), np.float64).tolist()
        except NotImplementedError:
            return "not implemented"
        except Exception as error:
            return type(error).__name__

    y = tf.constant(ask(lambda b: b.forward(x)), tf.float32)
    back = bijector.inverse_min_event_ndims - bijector.forward_min_event_ndims + event_dims
    return {
        "forward": ask(lambda b: b.forward(x)),
        "inverse": ask(lambda b: b.inverse(y)),
        "forward_log_det": ask(lambda b: b.forward_log_det_jacobian(x, event_ndims=event_dims)),
        "inverse_log_det": ask(lambda b: b.inverse_log_det_jacobian(y, event_ndims=back)),
        "slope": ask(lambda b: tf.gradients(b.forward(x), x)[0]),
        "event_shape": bijector.forward_event_shape(list(value.shape)[-whole:]).as_list(),
        "variables": [v.name for v in tf.global_variables()],
    }


def main():
    """Prints what each bijector that this version has does."""
    found = {}
    for name, (make, value, event_dims) in sorted(CASES.items()):
        if name in APART:
            continue
        with tf.Graph().as_default(), tf.Session() as session:
            try:
                found[name] = told(session, make, value, event_dims)
            except AttributeError as error:
                assert "has no attribute" in str(error), error
    print(json.dumps(found))


if __name__ == "__main__":
    main()
