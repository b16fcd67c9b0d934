"""Variables, their updates, and what saves them."""
