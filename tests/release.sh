#!/bin/sh
# Checks what a release promises and a test run has no time for. Everything must hold; what fails is listed at the end.
#
#   npm install --no-save playwright-core axe-core            and Chromium, for the browser
#   python3 -m venv venv && venv/bin/pip install perfetto==0.59.1 viztracer==1.1.1 extrap==4.2.5 \
#       duckdb==2.0.0 pandas==3.1.1 polars==2.1.0 pyarrow maturin mypy nbclient ipykernel
#   rustup target add wasm32-unknown-unknown, binaryen        and `rustup toolchain install` of the declared version
#   cargo install cargo-deny
#   sh tests/release.sh [STEP…]
#
# Steps: rust-version wasm licences oracles mutants validations browser perfetto extra-p parquet python playground package; all unless named. PYTHON
# is the interpreter with the packages above, venv/bin/python if it is not set. Mutants and validations take hours.
set -u
cd "$(dirname "$0")/.."
python=${PYTHON:-venv/bin/python}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
parsim=target/release/parsim

step() {
    case $1 in
    rust-version)
        version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
        cargo "+$version" check --workspace --all-targets ;;
    # The libraries need no threads, no clock and no files of a system to compile.
    wasm) cargo check -p parsim-sim -p parsim-study --target wasm32-unknown-unknown ;;
    licences) cargo deny check licenses bans sources ;;
    oracles) cargo test -p parsim-oracles ;;
    mutants) sh tests/mutants/run.sh ;;
    validations) "$parsim" validate --all --quiet >"$out/validation.txt" ;;
    browser) node tests/browser/check.mjs "$parsim" "$out/screenshots" ;;
    perfetto)
        "$parsim" critical-path scenarios/gauss-jordan-neighbour.ron --set ranks=32 --set program.n=256 \
            --perfetto "$out/trace.json" >/dev/null && "$python" tests/perfetto/check.py "$out/trace.json" ;;
    extra-p) "$python" tests/extra-p/compare.py "$parsim" ;;
    parquet)
        cargo build --release --features parquet --target-dir "$out/parquet" &&
            "$python" tests/parquet/check.py "$out/parquet/release/parsim" scenarios/ring-shift.ron ;;
    # The wheel in an environment of its own, beside the readers of tables that the other one has.
    python)
        "$python" -m maturin build --release --manifest-path bindings/python/Cargo.toml --out "$out/wheel" && "$python" -m venv "$out/venv" &&
            "$out/venv/bin/python" -m pip install --quiet "$out"/wheel/*.whl &&
            packages=$("$python" -c 'import site; print(site.getsitepackages()[0])') &&
            echo "$packages" >"$("$out/venv/bin/python" -c 'import site; print(site.getsitepackages()[0])')/packages.pth" &&
            "$out/venv/bin/python" tests/python/check.py "$out/venv/bin/parsim" "$parsim" &&
            "$out/venv/bin/python" -m mypy.stubtest parsim --allowlist tests/python/stubtest.txt &&
            "$out/venv/bin/python" -m mypy --strict tests/python/typed.py &&
            "$out/venv/bin/python" tests/python/notebook.py docs/python.ipynb ;;
    playground)
        sh bindings/playground/build.sh "$out/page" && node tests/playground/check.mjs "$out/page" "$parsim" &&
            node tests/playground/page.mjs "$out/page" "$parsim" "$out/screenshots" ;;
    package)
        sh release/build.sh "$out/files" && tar -C "$out" -xzf "$out"/files/*.tar.gz && (
            commit=$(git rev-parse --short=12 HEAD) && cd "$out"/parsim-*-linux-* && ! readelf -d ./parsim | grep NEEDED && ./parsim --version | grep -F "($commit" &&
                ./parsim check scenarios/ring-shift.ron && ls man1/parsim-run.1 completions/parsim.bash) &&
            (cd "$out/files" && sha256sum -c SHA256SUMS) ;;
    *) echo "there is no step $1" && return 1 ;;
    esac
}

test $# -gt 0 || set -- rust-version wasm licences oracles mutants validations browser perfetto extra-p parquet python playground package
cargo build --release || exit 1
failed=
for name in "$@"; do
    echo "== $name"
    step "$name" || failed="$failed $name"
done
test -z "$failed" || { echo "failed:$failed"; exit 1; }
