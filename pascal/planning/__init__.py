"""Which L? Levels per layer planned within a budget, by what each layer is measured to do to the output.

The public names stand in `__init__.pyi`; each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
