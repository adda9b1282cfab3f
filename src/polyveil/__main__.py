"""`python -m polyveil`."""

from polyveil.cli import main

main()
