"""python -m anysize.cli"""

from anysize.cli import main

main()
