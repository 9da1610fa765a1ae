"""What the metric's parameters may be; without torch, so that the pipeline asks before it trains for hours."""

FEWEST_BINS = {"levels": 2, "frequencies": 4}  # of a histogram, for each reading of the moments


def k_fault(k: float, parts: int, named: str) -> str:
    """What is wrong with k, or nothing: α = k / parts is a share of a layer's neurons, between 0 and 1."""
    return "" if 0 < k / parts < 1 else f"got {k}, expected more than 0 and less than the {parts} {named}"


def moments_fault(moments: str, bins: int, layer: str) -> str:
    """What is wrong with a reading of the moments for a histogram of so many bins, or nothing."""
    fewest = FEWEST_BINS[moments]
    if bins >= fewest:
        return ""
    needed = f"at least {fewest}, that is {fewest - 1} levels"
    return f"got {moments!r}, expected 'levels': {layer} has {bins} bins, {moments} need {needed}"
