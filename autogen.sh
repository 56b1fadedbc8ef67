#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes ./configure from configure.ac. Needs autoconf, automake and pkg-config.
set -e
cd "$(dirname "$0")"
mkdir -p build-aux m4
autoreconf --force --install --warnings=all
