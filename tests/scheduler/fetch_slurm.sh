#!/bin/sh
# Put Slurm into a folder, for the tests of clusters; nothing is installed, and no root is needed.
# usage: fetch_slurm.sh FOLDER
set -eu
folder=$1
command -v slurmctld >/dev/null || [ -x /usr/sbin/slurmctld ] && exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || { echo "no slurmctld and no apt-get here"; exit 1; }
packages="slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libmunge2"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
# a folder of archives of its own: what the machine's already holds is not printed
mkdir -p archives/partial
list() { apt-get -o Dir::Cache::archives="$place/archives" "$@" install -qq --print-uris --no-install-recommends $packages | sed -n "s/^'[^']*' \([^_]*\)_.*/\1/p"; }
# where the lists of packages are missing or old, lists of its own are fetched
apt-get download -qq $(list) >/dev/null 2>&1 || {
    rm -f ./*.deb
    mkdir -p lists/partial cache/archives/partial
    own="-o Dir::State::lists=$place/lists -o Dir::Cache=$place/cache -o APT::Sandbox::User=$(id -un)"
    apt-get $own -qq update >/dev/null
    apt-get $own -qq download $(list $own) >/dev/null
}
mkdir -p "$folder"
for package in ./*.deb; do dpkg-deb -x "$package" "$folder"; done
