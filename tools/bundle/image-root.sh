#!/bin/sh
# Bundles commands the way an image carries them: modules in <root>/opt/<folder>/lib, each command a
# link in <root>/usr/local/bin that the kernel starts without a shell.
#   sh tools/bundle/image-root.sh <root> <folder> <command>=<source.ts> …
# A provider reads its name from the folder above its module: the folder is named like it.
set -eu

root=$1
folder=$2
shift 2
tools=$(dirname "$0")
"$tools/../../node_modules/.bin/node" "$tools/main.ts" --out "$root/opt/$folder/lib" "$@"
mkdir -p "$root/usr/local/bin"
for command in "$@"; do
  name=${command%%=*}
  ln -s "../../../opt/$folder/lib/$name.mjs" "$root/usr/local/bin/$name"
done
