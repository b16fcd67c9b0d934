"""Looking into steps: the first NaN, dumps of every tensor, filters over them."""
