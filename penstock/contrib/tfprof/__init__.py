"""``tf.contrib.tfprof``: the first place of ``tf.profiler``."""

from penstock.contrib.tfprof import model_analyzer as model_analyzer
from penstock.contrib.tfprof.profile_context import ProfileContext as ProfileContext
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
