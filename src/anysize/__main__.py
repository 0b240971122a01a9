"""The command ``anysize``, which ``python -m anysize`` is, too."""

import sys


def main() -> None:
    """Run the command line; stopped while its packages are still being loaded, it ends without a traceback."""
    try:
        from anysize.cli.app import main as run
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
