# SPDX-License-Identifier: MIT
"""What the pictures share. matplotlib is needed only by those who plot."""
from __future__ import annotations

from typing import Any, Optional

#: one hue for what was measured, others for what is laid over it
MEASURED, MODEL, GOOD, BAD, MUTED = "#1f5fa8", "#c4570f", "#2d7d46", "#b3261e", "#767676"


def axes(ax: Optional[Any], width: float = 8.0, height: float = 3.2) -> Any:
    """The given axes, or new ones. ImportError, with what to install, without matplotlib."""
    if ax is not None:
        if not hasattr(ax, "plot"):
            raise TypeError(f"ax is {ax!r}: matplotlib's Axes, or nothing, is wanted")
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot() needs matplotlib (apt install python3-matplotlib, or pip "
                          "install matplotlib)") from None
    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    tidy(ax)
    return ax


def tidy(ax: Any) -> None:
    """Nothing around the data that says nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, axis="y", linewidth=0.5, alpha=0.4)
    ax.set_axisbelow(True)
