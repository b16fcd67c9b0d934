"""Conditionals and loops as users build them: contexts, ``tf.cond``, ``tf.while_loop``, ...

Importing the room registers how MetaGraphs hold contexts, and gives ``tf.Assert`` its guard.
"""

from penstock.library.control_flow import cond as cond, messages as messages
