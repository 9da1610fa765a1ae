"""Settings of every test: reproducible property tests without deadlines, one thread per worker."""

import torch
from hypothesis import settings

settings.register_profile("pascal", deadline=None, derandomize=True, print_blob=False)
settings.load_profile("pascal")
torch.set_num_threads(1)
