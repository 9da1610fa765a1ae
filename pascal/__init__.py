"""PASCAL: exact conversion of QCFS networks into spiking ones, with the proof, the cost and the audit.

The public names stand in `__init__.pyi`; each is imported when it is first used, so that energy needs no torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
