"""``tf.keras.regularizers``: explicit re-exports, no logic."""

from penstock.library.layer_base.regularizers import (
    L1L2 as L1L2,
    Regularizer as Regularizer,
    deserialize as deserialize,
    get as get,
    l1 as l1,
    l1_l2 as l1_l2,
    l2 as l2,
    serialize as serialize,
)
