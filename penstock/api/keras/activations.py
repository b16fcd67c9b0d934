"""``tf.keras.activations``: explicit re-exports, no logic."""

from penstock.library.layer_base.activations import (
    deserialize as deserialize,
    elu as elu,
    exponential as exponential,
    get as get,
    hard_sigmoid as hard_sigmoid,
    linear as linear,
    relu as relu,
    selu as selu,
    serialize as serialize,
    sigmoid as sigmoid,
    softmax as softmax,
    softplus as softplus,
    softsign as softsign,
    tanh as tanh,
)
