"""State that outlives a step: variables, random streams, and the manager that finds them."""
