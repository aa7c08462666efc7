"""An OTLP receiver that parses strictly, by the definitions of `opentelemetry-proto`, and prints what it got.

The first line of its output is its port; each further line is one request as JSON. `receiver.py N` answers the first N
requests with 503, as a receiver does that is too busy.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality
from opentelemetry.proto.trace.v1.trace_pb2 import Span

busy = int(sys.argv[1]) if len(sys.argv) > 1 else 0


def check(message):
    """Refuses fields that the definitions do not know."""
    unknown = UnknownFieldSet(message)
    assert len(unknown) == 0, f"unknown field {unknown[0].field_number} in {type(message)}"
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for one in value if hasattr(value, "__len__") else [value]:
            check(one)


def any_value(value):
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [any_value(one) for one in value.array_value.values]
    return getattr(value, kind)


def attributes(pairs):
    return {pair.key: any_value(pair.value) for pair in pairs}


def span(one):
    assert len(one.trace_id) == 16 and any(one.trace_id), "a trace id has 16 bytes"
    assert len(one.span_id) == 8 and any(one.span_id), "a span id has 8 bytes"
    assert len(one.parent_span_id) in (0, 8), "a parent has 8 bytes or none"
    assert 0 < one.start_time_unix_nano <= one.end_time_unix_nano, "a span ends after it began"
    return {
        "trace": one.trace_id.hex(),
        "id": one.span_id.hex(),
        "parent": one.parent_span_id.hex(),
        "state": one.trace_state,
        "name": one.name,
        "kind": Span.SpanKind.Name(one.kind).removeprefix("SPAN_KIND_"),
        "attributes": attributes(one.attributes),
        "events": [event.name for event in one.events],
        "failed": one.status.code == 2,
        "message": one.status.message,
    }


def metric(one):
    kind = one.WhichOneof("data")
    data = getattr(one, kind)
    if kind != "gauge":
        assert data.aggregation_temporality == AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
    points = []
    for point in data.data_points:
        if kind == "histogram":
            assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
            assert sum(point.bucket_counts) == point.count
            value = point.count
        else:
            value = point.as_double
        points.append({"attributes": attributes(point.attributes), "value": value})
    return {"name": one.name, "unit": one.unit, "kind": kind, "points": points}


def read(path, body):
    if path == "/v1/traces":
        request = ExportTraceServiceRequest.FromString(body)
        check(request)
        groups = request.resource_spans
        spans = [span(one) for group in groups for scope in group.scope_spans for one in scope.spans]
        return {"resource": [attributes(group.resource.attributes) for group in groups], "spans": spans}
    assert path == "/v1/metrics", path
    request = ExportMetricsServiceRequest.FromString(body)
    check(request)
    scopes = [scope for group in request.resource_metrics for scope in group.scope_metrics]
    return {"metrics": [metric(one) for scope in scopes for one in scope.metrics]}


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global busy
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["Content-Type"] == "application/x-protobuf", self.headers["Content-Type"]
        if busy > 0:
            busy -= 1
            return self.answer(503)
        try:
            got = read(self.path, body)
            status = 200
        except Exception as problem:  # noqa: BLE001
            got, status = {"problem": repr(problem)}, 400
        got["key"] = self.headers.get("Api-Key", "")
        print(json.dumps(got), flush=True)
        self.answer(status)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
