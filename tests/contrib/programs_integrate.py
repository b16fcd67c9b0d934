"""Programs of ``tf.contrib.integrate`` (``recorded``)."""

import numpy as np

from tests.contrib.recorded import refused, values

TIMES = np.array([0, 0.5, 1.25, 2.0])


def _start(tf, dtype="float64"):
    return tf.constant([1.0, 2.0], dtype)


def case_odeint(tf):
    odeint = tf.contrib.integrate.odeint
    made = [
        odeint(lambda y, t: -y * t, _start(tf), TIMES),
        odeint(lambda y, t: -y * tf.cast(t, tf.float32), _start(tf, "float32"), TIMES, rtol=1e-4),
        odeint(lambda y, t: tf.stack([y[1], -y[0]]), _start(tf), TIMES, rtol=1e-9, atol=1e-9),
    ]
    options = {"first_step": 0.1, "safety": 0.8, "ifactor": 5.0, "dfactor": 0.3}
    made.append(odeint(lambda y, t: -y * t, _start(tf), TIMES, method="dopri5", options=options))
    turned = odeint(lambda y, t: 1j * y, tf.constant([1.0, 2.0], tf.complex128), TIMES)
    made += [tf.real(turned), tf.imag(turned)]
    return [t.shape.as_list() for t in made] + values(tf, made)


def case_full_output(tf):
    states, info = tf.contrib.integrate.odeint(
        lambda y, t: -y * t, _start(tf), TIMES, full_output=True
    )
    return values(tf, [states, info])


def case_gradients(tf):
    rate = tf.constant(0.7, tf.float64)
    states = tf.contrib.integrate.odeint_fixed(lambda y, t: -rate * y * t, _start(tf), TIMES, 0.2)
    return values(tf, tf.gradients(states, rate))


def case_odeint_fixed(tf):
    fixed = tf.contrib.integrate.odeint_fixed
    made = []
    for method in ("midpoint", "rk4"):
        for dt in (None, 0.3, [0.3, 0.1, 0.2], 0.25):
            made.append(fixed(lambda y, t: -y * t, _start(tf), TIMES, dt, method))
    return [made[0].shape.as_list()] + values(tf, made)


def case_refusals(tf):
    odeint, fixed = tf.contrib.integrate.odeint, tf.contrib.integrate.odeint_fixed

    def slope(y, t):
        return y

    few = {"max_num_steps": 1}
    return [
        refused(lambda: odeint(slope, [1.0], TIMES, method="x"), "invalid method: 'x'"),
        refused(lambda: odeint(slope, [1.0], TIMES, options={}), "cannot supply `options`"),
        refused(lambda: odeint(slope, [1.0], TIMES, method="dopri5", options={"z": 1})),
        refused(lambda: odeint(slope, [1], TIMES), "`y0` must have a floating point"),
        refused(lambda: values(tf, odeint(slope, [1.0], TIMES[::-1])), "monotonic increasing"),
        refused(lambda: values(tf, odeint(slope, [1.0], TIMES, method="dopri5", options=few)),
                "max_num_steps exceeded"),
        refused(lambda: fixed(slope, [1.0], TIMES, method="x"), "method not supported: x"),
        refused(lambda: fixed(slope, [1.0], [TIMES])),
    ]  # fmt: skip
