"""The array types that every part uses. Codes number values, places number positions in a histogram."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]
Places = npt.NDArray[np.int32]
TextArray = npt.NDArray[np.object_]
