#!/bin/sh
# Makes the files of a release in a folder: sh release/build.sh FOLDER [PART…]
#
# Parts: binaries crates wheel playground; binaries and crates unless named.
#   binaries    a static binary for Linux with its man pages, completions and licences, as an archive
#   crates      the three crates as `cargo package` builds them without a network, from a vendored folder
#   wheel       the wheel of Python; PYTHON is an interpreter with maturin, venv/bin/python if it is not set
#   playground  the page, as an archive
# Sums of all stand in SHA256SUMS. The commit is in what is built.
set -eu
cd "$(dirname "$0")/.."
out=${1:?name the folder of the files}
shift
test $# -gt 0 || set -- binaries crates
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
host=$(rustc -vV | sed -n 's/^host: //p')
PARSIM_COMMIT=$(git rev-parse --short=12 HEAD)
test -z "$(git status --porcelain --untracked-files=no)" || PARSIM_COMMIT=$PARSIM_COMMIT-changed
export PARSIM_COMMIT

# The C library of the host as part of the binary: it starts on any Linux of that processor.
binaries() {
    name=parsim-$version-$host
    RUSTFLAGS="-C target-feature=+crt-static --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src/=" cargo build --release --target "$host" --target-dir target/static --bin parsim
    mkdir -p "$work/$name/completions"
    cp "target/static/$host/release/parsim" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT NOTICE "$work/$name"
    strip "$work/$name/parsim"
    "$work/$name/parsim" man --out "$work/$name/man1"
    for shell in bash elvish fish powershell zsh; do
        "$work/$name/parsim" completions "$shell" -o "$work/$name/completions/parsim.$shell"
    done
    cp -r scenarios "$work/$name"
    tar -C "$work" -czf "$out/$name.tar.gz" "$name"
}

# Each crate is put beside the vendored ones before the next is built, which needs it.
crates() {
    cargo vendor --locked "$work/vendor" >"$work/vendored.toml" 2>"$work/vendored.log" || { cat "$work/vendored.log"; return 1; }
    for crate in parsim-sim parsim-study parsim; do
        cargo --config "$work/vendored.toml" package --offline --registry crates-io --allow-dirty \
            --target-dir target/package -p "$crate"
        file=target/package/package/$crate-$version.crate
        tar -C "$work/vendor" -xzf "$file"
        sum=$(sha256sum "$file" | cut -d ' ' -f 1)
        echo "{\"files\":{},\"package\":\"$sum\"}" >"$work/vendor/$crate-$version/.cargo-checksum.json"
        cp "$file" "$out"
    done
}

wheel() {
    "${PYTHON:-venv/bin/python}" -m maturin build --release --manifest-path bindings/python/Cargo.toml --out "$out"
}

playground() {
    sh bindings/playground/build.sh "$work/parsim-playground-$version"
    tar -C "$work" -czf "$out/parsim-playground-$version.tar.gz" "parsim-playground-$version"
}

for part in "$@"; do
    case $part in
    binaries | crates | wheel | playground) "$part" ;;
    *) echo "there is no part $part" >&2 && exit 2 ;;
    esac
done
(cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | sort | xargs sha256sum >SHA256SUMS)
