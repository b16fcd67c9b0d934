"""What an op is: its signature, attrs, traits, shape rule, kernel and gradient, said once.

An :class:`~penstock.foundation.opdef.opdef.OpDef` is the only thing that the builder wing (which
makes nodes) and the compiler wing (which runs them) share.  The rooms:

* ``signature`` has what ``parsing`` reads from ``"a: T, b: T -> product: T"`` and attr lines;
* ``opdef`` holds the :class:`OpDef`, ``define`` registers one; ``kinds`` says what op types
  are for, and ``arithmetic`` counts their float operations;
* ``inference`` is the context that a shape rule sees;
* ``registry`` finds op definitions and gradient functions by name.
"""

from penstock.foundation.opdef.define import define_op as define_op
from penstock.foundation.opdef.opdef import OpDef as OpDef
