# SPDX-License-Identifier: BSD-2-Clause
"""What a script needs of this machine, which it installs if it may."""
import os
import shutil
import subprocess

from apt import Unavailable


def is_installed(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout == "installed"


def need(*packages):
    """Those that are missing are installed by apt, as root."""
    missing = [package for package in packages if not is_installed(package)]
    if not missing:
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Unavailable(f"these have to be installed: {' '.join(missing)}")
    apt = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300", "--no-install-recommends"]
    for command in (["update"], ["install", *missing]):
        done = subprocess.run([*apt, *command], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"))
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(missing)} cannot be installed:\n{done.stdout[-2000:]}")
