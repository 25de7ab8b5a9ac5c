#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks what the wheel for aarch64 needs and only Debian has, into share/aarch64 below the given virtual environment: a Rust
# compiler with the standard library of that target (rustc-web), qemu-user, and a Python of that architecture. Needs apt-get and dpkg-deb (Debian, Ubuntu) on x86-64, no root. About 150 MB come over the network.
set -euo pipefail
share="$(realpath "$1")/share/aarch64"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "apt-get has no rustc-web, qemu-user or Python for aarch64: there will be no wheel for aarch64" >&2' ERR
[ "$(dpkg --print-architecture)" = amd64 ]

# Downloads packages of an architecture into a folder of its name, by package lists of our own: the computer's may have
# none, and none of another architecture. What is asked for is all there is: nothing is resolved.
get() {
    local architecture=$1
    shift
    local state="$work/$architecture"
    mkdir -p "$state"/lists/partial "$state"/archives/partial "$state/debs"
    local own=(-o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o Dir::State="$state"
        -o Dir::Cache="$state" -o Dir::State::status=/dev/null)
    apt-get "${own[@]}" update >/dev/null 2>&1
    if [ "$architecture" = amd64 ]; then
        # The compiler's own libraries are named after their versions.
        local only=(--no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances)
        mapfile -t libraries < <(apt-cache "${own[@]}" depends --recurse "${only[@]}" rustc-web |
            grep -E '^lib(std-rust|llvm)[a-z0-9.-]*$')
        set -- "$@" "${libraries[@]}"
    fi
    (cd "$state/debs" && apt-get "${own[@]}" download "$@" >/dev/null 2>&1)
}

get amd64 rustc-web qemu-user libcapstone4 liburing2
get arm64 libstd-rust-web-dev python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 libstdc++6 \
    zlib1g libssl3 libffi8 libexpat1 libbz2-1.0 liblzma5 libsqlite3-0 libuuid1 libcrypt1
rm -rf "$share"
mkdir -p "$share/bin" "$share/host" "$share/root"
for file in "$work"/amd64/debs/*.deb; do dpkg-deb -x "$file" "$share/host"; done
for file in "$work"/arm64/debs/*.deb; do
    case $file in
    */libstd-rust-web-dev_*) dpkg-deb -x "$file" "$work/std" ;;
    *) dpkg-deb -x "$file" "$share/root" ;;
    esac
done
mv "$work"/std/usr/lib/rustlib/aarch64-unknown-linux-gnu "$share/host/usr/lib/rustlib/"
for tool in rustc qemu-aarch64; do
    cat >"$share/bin/$tool" <<END
#!/bin/sh
export LD_LIBRARY_PATH="$share/host/usr/lib/x86_64-linux-gnu\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
exec "$share/host/usr/bin/$tool" "\$@"
END
    chmod +x "$share/bin/$tool"
done
"$share/bin/rustc" --version >/dev/null
[ "$("$share/bin/qemu-aarch64" -L "$share/root" "$share/root/usr/bin/python3.11" -c 'import platform; print(platform.machine())')" = aarch64 ]
