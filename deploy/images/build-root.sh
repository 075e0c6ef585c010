#!/bin/sh
# Makes the root file system that the images are built in, where none can be pulled: Debian, the
# Node of this checkout and the npm of this machine. A published image with Node 24 and npm on
# Debian does as well.
#   sh deploy/images/build-root.sh <root.tar>
set -eu

out=$1
node=$(readlink -f "$(dirname "$0")/../../node_modules/.bin/node")
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")

mmdebstrap --quiet --variant=essential --mode=root --include=libstdc++6 \
  --customize-hook="cp '$node' \"\$1/usr/local/bin/node\"" \
  --customize-hook="mkdir -p \"\$1/usr/local/lib/node_modules\"" \
  --customize-hook="cp -r '$npm' \"\$1/usr/local/lib/node_modules/npm\"" \
  --customize-hook="ln -s ../lib/node_modules/npm/bin/npm-cli.js \"\$1/usr/local/bin/npm\"" \
  "${SUITE:-bookworm}" "$out"
