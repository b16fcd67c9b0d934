"""``tf.keras.constraints``: explicit re-exports, no logic."""

from penstock.library.layer_base.constraints import (
    Constraint as Constraint,
    MaxNorm as MaxNorm,
    MinMaxNorm as MinMaxNorm,
    NonNeg as NonNeg,
    RadialConstraint as RadialConstraint,
    UnitNorm as UnitNorm,
    deserialize as deserialize,
    get as get,
    serialize as serialize,
)

max_norm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = NonNeg
radial_constraint = RadialConstraint
unit_norm = UnitNorm
