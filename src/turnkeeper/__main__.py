"""`python -m turnkeeper` is `turnkeeper`."""

import sys

from turnkeeper.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
