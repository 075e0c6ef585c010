#!/bin/sh
# Installs the Debian packages that the tests need; `make deps` calls it, and `make image-deps` with
# another list. Usage:
#   sh test/toolkit/install-debian-packages.sh [list-file]
# Quick and silent when nothing is missing. Needs root only when something is: otherwise it says
# in one line what to run and exits 1. It never starts a service: an etcd or Prometheus of the
# machine on the default ports would be a surprise to its owner and could answer for a test's own.
set -eu

list=${1:-$(dirname "$0")/debian-packages.txt}
wanted=$(sed 's/#.*//' "$list")

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

if ! command -v dpkg-query >/dev/null; then
  echo "not a Debian system: install the equivalents of: $(echo $wanted)" >&2
  exit 1
fi

missing=
for package in $wanted; do
  installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
  echo "missing Debian packages:$missing; run: ${INSTALL_WITH:-sudo make deps}" >&2
  exit 1
fi

# One at a time: two would take each other's policy-rc.d away, and `apt-get update` waits for no lock.
exec 9>/run/bigfleet-debian-packages.lock
flock --timeout 1800 9 || { echo "another installer does not end" >&2; exit 1; }

# Debian asks policy-rc.d before it starts a service on install; 101 means no.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

# Somebody else's apt may hold the lists.
tries=1
until apt-get update -qq 9>&-; do
  [ "$tries" -lt 6 ] || exit 1
  tries=$((tries + 1))
  sleep 10
done
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  -o DPkg::Lock::Timeout=600 $missing >/dev/null 9>&-

# Installing also enables units for the next boot; those that came with us stay off.
if command -v systemctl >/dev/null; then
  for package in $missing; do
    for unit in $(dpkg -L "$package" | sed -n 's,.*/systemd/system/\([^/@]*\.\(service\|socket\|timer\)\)$,\1,p'); do
      systemctl disable --quiet "$unit"
    done
  done
fi
echo "installed:$missing"
