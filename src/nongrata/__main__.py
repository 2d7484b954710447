"""``python -m nongrata``."""

from nongrata.cli import main

if __name__ == "__main__":
    main()
