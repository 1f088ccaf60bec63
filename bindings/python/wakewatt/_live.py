# SPDX-License-Identifier: MIT
"""Samples and beats as they arrive."""
from __future__ import annotations

import select
from typing import TYPE_CHECKING, Iterator, Optional

from ._base import View

if TYPE_CHECKING:
    from ._trace import Trace


class LiveTrace(View):
    """A trace that may still grow."""

    def follow(self, timeout: Optional[float] = None) -> Iterator["Trace"]:
        """Yield the trace each time it has grown, until its recorder has ended.

        ``timeout``: also end after so many seconds without anything new.
        """
        trace: "Trace" = self  # type: ignore[assignment]
        while True:
            state = trace.state
            if trace.refresh():
                yield trace
            elif state != "live":
                return
            elif not select.select([trace.fileno()], [], [], timeout)[0]:
                return


class LiveChannel:
    """A channel of a trace that may still grow."""
