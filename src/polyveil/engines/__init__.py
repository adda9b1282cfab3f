"""Engines that run the same policies beyond one machine. Importing one needs its extra (`pip install polyveil[spark]`)."""
