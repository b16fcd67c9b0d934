"""Names that were soon renamed.  Written as for TensorFlow 0.6."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(74)
a = tf.constant(rng.randn(2, 3).astype("float32"))
b = tf.constant(rng.randn(2, 3).astype("float32"))
stack = tf.constant(rng.randn(2, 3, 3).astype("float32"))
z = tf.complex(a, b)
init = tf.zeros_initializer([3])
variable = tf.Variable(init)
out, idx = tf.listdiff([1, 2, 3, 4, 5], [2, 4])


def show(name, value):
    print(name, " ".join("%.6g" % v for v in np.ravel(value)))


results = [
    ("mul", tf.mul(a, b)), ("sub", tf.sub(a, b)), ("neg", tf.neg(a)),
    ("pack", tf.pack([a, b])), ("unpack", tf.unpack(a)[1]),
    ("select", tf.select(tf.greater(a, b), a, b)),
    ("batch_matmul", tf.batch_matmul(stack, stack)),
    ("batch_determinant", tf.batch_matrix_determinant(stack)),
    ("batch_inverse", tf.batch_matrix_inverse(stack)),
    ("batch_diag", tf.batch_matrix_diag(a)),
    ("complex_abs", tf.complex_abs(z)),
    ("inv", tf.inv(a)),
    ("listdiff", tf.to_float(out)), ("indices", tf.to_float(idx)),
    ("concat", tf.concat(1, [a, b])),
    ("split", tf.split(1, 3, a)[2]),
    ("reduce", tf.reduce_sum(a, reduction_indices=[0])),
    ("keep", tf.reduce_max(a, reduction_indices=1, keep_dims=True)),
    ("expand", tf.expand_dims(a, dim=1)),
    ("squeeze", tf.squeeze(tf.expand_dims(a, 0), squeeze_dims=[0])),
    ("reverse", tf.reverse(a, [False, True])),
    ("arg_max", tf.to_float(tf.arg_max(a, 1))),
    ("edit", tf.to_float(tf.size(tf.shape(a)))),
    ("normalize", tf.nn.l2_normalize(a, dim=1)),
    ("sequence", tf.reverse_sequence(a, [2, 3], seq_dim=1, batch_dim=0)),
]

with tf.Session() as sess:
    sess.run(tf.initialize_all_variables())
    for name, tensor in results:
        show(name, sess.run(tensor))
    show("variable", sess.run(variable))
    with tf.op_scope([a, b], None, "scoped"):
        scoped = tf.add(a, b)
    print(scoped.op.name, [v.name for v in tf.all_variables()])
    sess.run(tf.initialize_variables([variable]))
    show("assigned", sess.run(variable.assign_add([1, 2, 3])))
