"""The second form of a program: its pure stretches as native calls, compiled in another process."""
