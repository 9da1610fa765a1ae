"""`python -m pascal.cli`."""

import sys

from pascal.cli import main

sys.exit(main())
