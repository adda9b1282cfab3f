"""SLOMS on all 299,285 rows of Census-Income, d = 4, l = 6, k = 6, from the frame in memory to a verified release.

    python benchmarks/sloms_scale.py [--labour-force]

han2013 needs up to a minute for 10,000 rows.
"""

from __future__ import annotations

import sys
import time

from census_tables import census, in_labour_force, policy_of, slices_of

import polyveil


def main() -> None:
    frame = in_labour_force(census()) if "--labour-force" in sys.argv else census()
    frame = frame.select([*frame.columns[:5], *(name for part in slices_of(4) for name in part)])
    policy = policy_of(4, 6, 6, {"name": "sloms", "slices": slices_of(4)})
    polyveil.anonymize(frame.head(2000), policy, seed=1)  # compile the kernels
    for rows in (10_000, 100_000, frame.height):
        start = time.perf_counter()
        release = polyveil.anonymize(frame.head(rows), policy, seed=1)
        passed = time.perf_counter() - start
        stages = ", ".join(f"{name} {value:.1f}" for name, value in release.seconds.items() if value > 0.05)
        loss = release.loss
        print(f"{rows} rows in {passed:.1f} s ({stages})")
        print(f"  suppression ratio {loss['suppression_ratio']:.4f}, distortion {loss['distortion']:.0f}, verified")


if __name__ == "__main__":
    main()
