"""The `scarce` command as ``python -m scarce``."""

import sys

from scarce.cli import main

if __name__ == "__main__":
    sys.exit(main())
