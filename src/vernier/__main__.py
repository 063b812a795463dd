"""`python -m vernier` is the command `vernier`."""

import sys

from vernier.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
