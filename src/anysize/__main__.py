"""Entry point of ``anysize`` and ``python -m anysize``."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C during imports ends it without a traceback."""
    try:
        from anysize.cli.app import main as run
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
