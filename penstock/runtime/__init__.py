"""Running programs: linking to torch and to a session's state, and explaining failures."""

from penstock.runtime import memory

memory.share_one_heap()
