"""``tf.contrib.integrate``: ordinary differential equations.

``adaptive`` chooses its steps by their error, ``fixed`` takes those that are given.
"""

from penstock.contrib.integrate.adaptive import odeint as odeint
from penstock.contrib.integrate.fixed import odeint_fixed as odeint_fixed
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
