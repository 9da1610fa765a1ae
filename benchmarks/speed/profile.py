"""Where the time of a network goes, by operator."""

from collections.abc import Callable

import pandas as pd
from torch.profiler import ProfilerActivity, profile


def profiled(work: Callable[[], object], rows: int = 8) -> pd.DataFrame:
    """The operators with the largest share of the time that they spend themselves."""
    work()
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        work()
    events = recorded.key_averages()
    total = sum(event.self_cpu_time_total for event in events)
    table = pd.DataFrame(
        {
            "operator": [event.key for event in events],
            "calls": [event.count for event in events],
            "self_ms": [event.self_cpu_time_total / 1e3 for event in events],
            "share": [event.self_cpu_time_total / total for event in events],
        }
    )
    return table.sort_values("share", ascending=False).head(rows)
