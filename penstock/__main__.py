"""``python -m penstock``: the ``penstock`` command."""

from penstock.cli.main import app

app(prog_name="penstock")
