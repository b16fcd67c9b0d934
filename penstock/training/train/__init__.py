"""``tf.train``: optimizers, schedules, savers, training sessions, input pipelines, examples.

``__init__.pyi`` says where each name is; it is loaded when it is first used: most programs name an
optimizer, and few the servers, queues and hooks that take most of the time.
"""

from penstock.foundation.base import public_names

__getattr__, __dir__, __all__ = public_names.of_package(
    __name__, page="docs/ops.md", first="penstock.api.from_the_start"
)
