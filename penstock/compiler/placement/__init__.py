"""Which device each node runs on."""
