"""``tf.flags``: explicit re-exports, loaded when first used."""

from typing import TYPE_CHECKING

from penstock.api.when_used import names_of

if TYPE_CHECKING:
    from penstock.platform.flags import *  # noqa: F403

__getattr__, __dir__ = names_of("penstock.platform.flags")
