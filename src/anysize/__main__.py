"""Entry point of ``anysize`` and ``python -m anysize``: the commands, and the group `anysize paper`."""

import sys


def main() -> None:
    """Run the command line. Exit codes: 2 for wrong usage, 1 for other errors, 130 for Ctrl-C."""
    try:
        from anysize.paper.cli.app import main_app
    except KeyboardInterrupt:  # during imports
        print("Stopped.", file=sys.stderr)
        sys.exit(130)
    main_app()


if __name__ == "__main__":
    main()
