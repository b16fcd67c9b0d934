"""``python -m penstock``: the ``penstock`` command."""

from penstock.cli.start import main

main()
