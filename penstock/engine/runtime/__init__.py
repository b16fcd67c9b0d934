"""Running programs: linking to torch and to a session's state, and explaining failures."""
