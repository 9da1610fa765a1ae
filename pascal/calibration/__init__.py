"""Calibration: thresholds and weights of a quantised ReLU network from images alone, in closed form.

The public names stand in `__init__.pyi`; each is imported when it is first used, so that `bounds` needs no torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
