"""A collector on loopback that decodes OTLP over HTTP into plain values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.http_server import Receiver, receiver

KINDS = {1: "INTERNAL", 3: "CLIENT"}
STATUSES = {0: "UNSET", 1: "OK", 2: "ERROR"}


@dataclass(frozen=True)
class Span:
    """One span as the collector understood it."""

    name: str
    span_id: str
    parent_id: str
    trace_id: str
    kind: str
    status: str
    seconds: float
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


class Collector:
    """Everything that was exported so far."""

    def __init__(self, server: Receiver) -> None:
        self._server = server
        self.url = server.url

    def _bodies(self, path: str) -> Iterator[bytes]:
        return (body for where, _, body in list(self._server.requests) if where == path)

    @property
    def headers(self) -> list[dict[str, str]]:
        return [headers for _, headers, _ in self._server.requests]

    @property
    def spans(self) -> list[Span]:
        return [
            _span(span)
            for body in self._bodies("/v1/traces")
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def services(self) -> set[str]:
        return {
            _attributes(resource.resource.attributes)["service.name"]
            for body in self._bodies("/v1/traces")
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        }

    def metric(self, name: str) -> list[tuple[dict[str, Any], float]]:
        """The points of the last export of a metric: attributes, and sum or value."""
        found: list[tuple[dict[str, Any], float]] = []
        for body in self._bodies("/v1/metrics"):
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for scope in resource.scope_metrics:
                    for metric in scope.metrics:
                        if metric.name == name:
                            found = [*_points(metric)]
        return found

    def named(self, name: str) -> Span:
        """The one span of that name."""
        (span,) = [span for span in self.spans if span.name == name]
        return span

    def text(self) -> str:
        """Everything in one string, to look for what must not be there."""
        return repr(self.spans)


def _span(span: Any) -> Span:
    return Span(
        name=span.name,
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        trace_id=span.trace_id.hex(),
        kind=KINDS[span.kind],
        status=STATUSES[span.status.code],
        seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
        attributes=_attributes(span.attributes),
        events=[(event.name, _attributes(event.attributes)) for event in span.events],
    )


def _points(metric: Any) -> Iterator[tuple[dict[str, Any], float]]:
    if metric.HasField("histogram"):
        for point in metric.histogram.data_points:
            yield _attributes(point.attributes), point.sum
    else:
        for point in metric.sum.data_points:
            yield _attributes(point.attributes), point.as_int


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(entry) for entry in value.array_value.values]
    return getattr(value, kind)


@contextmanager
def collector(*statuses: int, delay: float = 0.0) -> Iterator[Collector]:
    """A collector that lives as long as the block."""
    with receiver(*statuses, delay=delay) as server:
        yield Collector(server)
