#!/bin/sh
# Makes the root file system that every image of BigFleet stands on, from Debian's packages alone:
#   sh deploy/images/base-root.sh <root.tar>        ARCH=arm64 for another architecture
# It holds what Node links to, the trust roots and the user 65532: no shell, no package manager,
# nothing to run. Packages are unpacked, never run: any architecture can be made on any machine.
set -eu

out=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
fetched=$work/fetched
root=$work/root

# ca-certificates depends on programs (openssl, debconf): only its certificates are taken.
mmdebstrap --quiet --variant=extract --mode=root --format=directory --skip=cleanup \
  --architectures="${ARCH:-$(dpkg --print-architecture)}" \
  --include=libc6,libstdc++6,libgcc-s1,ca-certificates "${SUITE:-bookworm}" "$fetched"

mkdir -p "$root/var/lib/dpkg/status.d" "$root/usr/share/doc/ca-certificates"
for package in libc6 libgcc-s1 gcc-12-base libstdc++6 ca-certificates; do
  deb=$(ls "$fetched/var/cache/apt/archives/${package}_"*.deb)
  [ "$package" = ca-certificates ] || dpkg-deb --extract "$deb" "$root"
  # Scanners for known holes read here which packages a root without a package manager holds.
  dpkg-deb --field "$deb" >"$root/var/lib/dpkg/status.d/$package"
done
# What only other programs would read.
rm -rf "$root"/usr/lib/*/gconv "$root/usr/share/gcc" "$root/usr/share/gdb" "$root/usr/share/lintian"
find "$root/usr/share/doc" -type f ! -name copyright -delete
cp "$fetched/usr/share/doc/ca-certificates/copyright" "$root/usr/share/doc/ca-certificates/"

mkdir -p "$root/etc/ssl/certs" "$root/tmp"
chmod 1777 "$root/tmp"
cat "$fetched"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
cat >"$root/etc/passwd" <<'PASSWD'
root:x:0:0:root:/:/sbin/nologin
nonroot:x:65532:65532:nonroot:/nonexistent:/sbin/nologin
PASSWD
cat >"$root/etc/group" <<'GROUP'
root:x:0:
nonroot:x:65532:
GROUP
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"

tar --create --file "$out" --directory "$root" --owner=0 --group=0 --numeric-owner --sort=name .
