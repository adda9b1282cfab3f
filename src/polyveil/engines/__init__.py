"""Engines that run the same policies beyond one machine. Each needs its extra: `polyveil[spark]`."""
