#!/bin/sh
# Builds the container images of this checkout; `make images` calls it.
#   sh deploy/images/build.sh [image …]             TAG=dev REVISION=<commit>
# Needs root, buildah, mmdebstrap, npm and Go; pulls nothing from an image registry. Each of
# BUILD_IMAGE, ETCD_IMAGE, BASE_IMAGE that is set is taken instead of one made here.
# CONTAINERS_STORAGE_CONF names another place for the images.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
tag=${TAG:-dev}
# A tree that is no checkout has none.
revision=${REVISION:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)}
images=${*:-bigfleet bigfleet-operator bigfleet-unschedulable-pod-controller bigfleet-dashboard bigfleet-provider-template}

for command in buildah mmdebstrap npm go; do
  command -v "$command" >/dev/null || {
    echo "build.sh: $command is missing; run: sudo make image-deps (Go: your own)" >&2
    exit 1
  }
done
[ "$(id -u)" = 0 ] || { echo 'build.sh: needs root: it unpacks file systems with owners' >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# import <name> <file or folder> <destination>: an image that holds it and nothing else.
import() {
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$2" "$3" >/dev/null
  buildah commit --quiet --rm "$container" "$1" >/dev/null
}

if [ -z "${BASE_IMAGE:-}" ]; then
  BASE_IMAGE=localhost/bigfleet-base:$tag
  sh "$here/base-root.sh" "$work/base.tar"
  import "$BASE_IMAGE" "$work/base.tar" /
fi
if [ -z "${BUILD_IMAGE:-}" ]; then
  BUILD_IMAGE=localhost/bigfleet-build:$tag
  sh "$here/build-root.sh" "$work/build.tar"
  import "$BUILD_IMAGE" "$work/build.tar" /
fi
if [ -z "${ETCD_IMAGE:-}" ]; then
  ETCD_IMAGE=localhost/bigfleet-etcd:$tag
  # Of the version that the tests run on.
  for program in etcd:server etcdutl:etcdutl; do
    (cd test/etcd && CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -trimpath -ldflags='-s -w' \
      -o "$work/etcd/${program%%:*}" "go.etcd.io/etcd/${program#*:}/v3")
  done
  import "$ETCD_IMAGE" "$work/etcd" /usr/local/bin
fi

set -- --isolation chroot --layers --quiet \
  --build-arg "BASE_IMAGE=$BASE_IMAGE" \
  --build-arg "BUILD_IMAGE=$BUILD_IMAGE" \
  --build-arg "ETCD_IMAGE=$ETCD_IMAGE"
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  set -- "$@" --volume "$NODE_EXTRA_CA_CERTS:/run/extra-ca.pem:ro" \
    --build-arg NODE_EXTRA_CA_CERTS=/run/extra-ca.pem
fi
# The folder of provider <name>; that of the template starts with an underscore.
provider_folder() {
  for folder in "$1" "_$1"; do
    [ -f "providers/$folder/Containerfile" ] && echo "$folder" && return
  done
  echo "build.sh: there is no providers/$1/Containerfile" >&2
  return 1
}

# stamp <image>: says which build it is. Not by --build-arg: buildah's cache gives the ENV of an earlier
# REVISION for the same lines.
stamp() {
  container=$(buildah from --pull=never "$1")
  buildah config --env "BIGFLEET_REVISION=$revision" "$container"
  buildah commit --quiet --rm "$container" "$1"
}

for image in $images; do
  case $image in
    bigfleet-provider-*)
      folder=$(provider_folder "${image#bigfleet-provider-}")
      buildah build "$@" --file "providers/$folder/Containerfile" --build-arg "PROVIDER=$folder" \
        --tag "localhost/$image:$tag" . >/dev/null
      ;;
    *)
      buildah build "$@" --file "$here/Containerfile" --target "$image" \
        --tag "localhost/$image:$tag" . >/dev/null
      ;;
  esac
  stamp "localhost/$image:$tag"
done
