"""Starts the native program: `python -m hookexec`."""

import os
import subprocess
import sys

from hookexec._program import find_hookexec_bin


def main() -> int:
    try:
        program = find_hookexec_bin()
        if os.name == "nt":
            return subprocess.run([program, *sys.argv[1:]], check=False).returncode
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        # Denies: agents take the exit code 1 of a Python error for permission.
        print(f"hookexec: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
