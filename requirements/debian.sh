#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the RTL's figures need and only Debian has, unpacked below the given virtual environment: the OSU 0.18 um standard
# cells (qflow-tech-osu018) into share/liberty, and the timing analyser OpenSTA with the libraries that it wants into
# share/opensta. Needs apt-get and dpkg-deb (Debian, Ubuntu), no root. The cells are an input of the tools: nothing of
# them becomes part of Ringmill.
set -euo pipefail
share="$(realpath "$1")/share"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lacking="areas in standard cells will need a library named in RINGMILL_LIBERTY, and their timing has no tool"
trap 'echo "no $package from apt-get: $lacking" >&2' ERR

# Unpacks the packages into a directory; the version of the first into the file `version` there.
unpack() {
    local into="$work/$1"
    package="$2"
    mkdir "$into"
    cd "$into"
    shift
    if ! apt-get download "$@" >/dev/null 2>&1; then
        # No package lists, as in a container image: fetch them into a place of our own.
        mkdir -p "$work"/state/lists/partial "$work"/cache/archives/partial
        own=(-o Dir::State="$work/state" -o Dir::Cache="$work/cache" -o Dir::State::status=/var/lib/dpkg/status)
        apt-get "${own[@]}" update >/dev/null 2>&1
        apt-get "${own[@]}" download "$@" >/dev/null 2>&1
    fi
    for file in ./*.deb; do dpkg-deb -x "$file" .; done
    dpkg-deb -f "$package"_*.deb Version >version
}

unpack cells qflow-tech-osu018
mkdir -p "$share/liberty"
cp usr/share/qflow/tech/osu018/osu018_stdcells.lib "$share/liberty/"
echo "$package $(cat version)" >"$share/liberty/osu018_stdcells.source"

lacking="timing in standard cells has no tool"
unpack analyser opensta libtcl8.6 libreadline8
rm -rf "$share/opensta"
mkdir -p "$share/opensta/lib"
cp usr/bin/sta version "$share/opensta/"
find . -name '*.so*' -exec cp -P {} "$share/opensta/lib/" \;
cp -r usr/share/tcltk/tcl8.6 "$share/opensta/tcl"
