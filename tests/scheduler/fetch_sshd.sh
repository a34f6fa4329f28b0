#!/bin/sh
# Put an OpenSSH server into a folder, for the tests of nodes; nothing is installed, and no root is needed.
# usage: fetch_sshd.sh FOLDER
set -eu
folder=$1
packages="openssh-server libwrap0"
command -v sshd >/dev/null || [ -x /usr/sbin/sshd ] && exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || { echo "no sshd and no apt-get here"; exit 1; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
# where the lists of packages are missing or old, lists of its own are fetched
apt-get download -qq $packages >/dev/null 2>&1 || {
    rm -f ./*.deb
    mkdir -p lists/partial cache/archives/partial
    own="-o Dir::State::lists=$place/lists -o Dir::Cache=$place/cache -o APT::Sandbox::User=$(id -un)"
    apt-get $own -qq update >/dev/null
    apt-get $own -qq download $packages >/dev/null
}
mkdir -p "$folder"
for package in ./*.deb; do dpkg-deb -x "$package" "$folder"; done
