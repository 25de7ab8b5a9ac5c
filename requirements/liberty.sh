#!/usr/bin/env bash
# Standard cells for area figures: the OSU 0.18 um library from Debian's package qflow-tech-osu018, unpacked below the
# given virtual environment. Needs apt-get and dpkg-deb (Debian, Ubuntu), no root. The library is an input of the tools:
# nothing of it becomes part of Ringmill.
set -euo pipefail
into="$1/share/liberty"
package=qflow-tech-osu018
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "no $package from apt-get: area figures will need a library named in RINGMILL_LIBERTY" >&2' ERR
cd "$work"
if ! apt-get download "$package" >/dev/null 2>&1; then
    # No package lists, as in a container image: fetch them into a place of our own.
    mkdir -p state/lists/partial cache/archives/partial
    own=(-o Dir::State="$work/state" -o Dir::Cache="$work/cache" -o Dir::State::status=/var/lib/dpkg/status)
    apt-get "${own[@]}" update >/dev/null 2>&1
    apt-get "${own[@]}" download "$package" >/dev/null 2>&1
fi
dpkg-deb -x ./*.deb unpacked
version=$(dpkg-deb -f ./*.deb Version)
cd - >/dev/null
mkdir -p "$into"
cp "$work/unpacked/usr/share/qflow/tech/osu018/osu018_stdcells.lib" "$into/"
echo "$package $version" >"$into/osu018_stdcells.source"
