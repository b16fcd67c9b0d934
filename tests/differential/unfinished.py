"""Differences that are known and not mended yet: what is left to do.

A row is as those of ``explained.py``; mending it removes the row.
"""

from __future__ import annotations

UNFINISHED: tuple[tuple[str, str, str], ...] = ()
UNSEEN = 0.02
