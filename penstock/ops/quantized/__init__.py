"""Numbers in few bits."""
