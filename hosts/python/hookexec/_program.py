"""Finds the native program of this package."""

import os
import sys
import sysconfig


def find_hookexec_bin() -> str:
    """Returns the path of the native program that this package installed."""
    name = "hookexec" + (sysconfig.get_config_var("EXE") or "")
    above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    user = "osx_framework_user" if sys.platform == "darwin" else f"{os.name}_user"
    directories = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", vars={"base": sys.base_prefix}),
        # `pip install --target DIRECTORY`
        os.path.join(above, "bin"),
        # `pip install --prefix DIRECTORY`: DIRECTORY/lib/python3.x/site-packages
        os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(above))), "bin"),
    ]
    if user in sysconfig.get_scheme_names():
        directories.append(sysconfig.get_path("scripts", scheme=user))
    for directory in directories:
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"no {name} in {', '.join(directories)}: install the package again")
