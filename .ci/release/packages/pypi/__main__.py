"""Starts the tenon binary that was installed beside this package."""

import os
import sys
import sysconfig


def binary() -> str:
    name = "tenon.exe" if os.name == "nt" else "tenon"
    schemes = [sysconfig.get_preferred_scheme("user"), sysconfig.get_default_scheme()]
    for scheme in schemes:
        path = os.path.join(sysconfig.get_path("scripts", scheme), name)
        if os.path.isfile(path):
            return path
    # With --target the scripts are beside the packages.
    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin", name)
    if os.path.isfile(path):
        return path
    sys.exit("tenon: the binary is not where this package installs it; install tenon-mcp again")


def main() -> None:
    path = binary()
    if os.name == "nt":
        import subprocess

        sys.exit(subprocess.call([path, *sys.argv[1:]]))
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
