#!/bin/sh
# Prints the size of the wheel of Python, the time of its import, and the instructions of a sweep of 1000 small cases in the module and in
# the command, each without what an interpreter or a sweep of one case takes: sh tests/python/measure.sh
#
# Needs valgrind. PYTHON is an interpreter with the wheel, venv/bin/python if it is not set; WHEEL is the file, if its size is wanted.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-venv/bin/python}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
scenario=scenarios/ring-shift.ron
parsim=$(dirname "$python")/parsim

test -z "${WHEEL:-}" || wc -c "$WHEEL"
"$python" - <<'END'
import statistics
import subprocess
import sys

def milliseconds(code):
    program = f"import time; begin = time.perf_counter(); {code}; print(time.perf_counter() - begin)"
    runs = [float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(11)]
    return 1000 * statistics.median(runs)

print(f"import: {milliseconds('import parsim'):.1f} ms, median of 11 interpreters")
END

instructions() {
    name=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file="$out/$name" "$@" >/dev/null 2>"$out/$name.log"
    sed -n 's/.*Collected : //p' "$out/$name.log"
}

sweep() {
    echo "import parsim; parsim.sweep('$scenario', over={'p': [4], 'seed': range(1, $1 + 1)}, jobs=1)"
}

one=$(instructions m1 "$python" -c "$(sweep 1)")
thousand=$(instructions m1000 "$python" -c "$(sweep 1000)")
echo "module: $((thousand - one)) instructions for 999 cases"
one=$(instructions c1 "$parsim" sweep "$scenario" --over p=4 --over seed=1 --jobs 1 --format jsonl)
thousand=$(instructions c1000 "$parsim" sweep "$scenario" --over p=4 --over "seed=$(seq -s, 1000)" --jobs 1 --format jsonl)
echo "command: $((thousand - one)) instructions for 999 cases"
