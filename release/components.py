#!/usr/bin/env python3
"""Prints a list of components (CycloneDX) without the paths of the machine that wrote it.

usage: components.py FILE

cargo-cyclonedx names the packages of the workspace by their directories.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    text = pathlib.Path(sys.argv[1]).read_text()
    document = json.loads(text)
    print(json.dumps(cleaned(document), indent=2))


def cleaned(value):
    """Returns the value without directories, in references and in `purl`."""
    if isinstance(value, dict):
        return {key: cleaned(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [cleaned(inner) for inner in value]
    if not isinstance(value, str):
        return value
    if value.startswith("pkg:cargo/"):
        return value.split("?", 1)[0].split("#", 1)[0]
    return value.replace(f"path+{ROOT.as_uri()}", "workspace:")


if __name__ == "__main__":
    main()
