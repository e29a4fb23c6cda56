"""Destinations of spans and metrics: one pipeline each, shared by the sessions of a process."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from amplifier_hooks.guards.otel.genai_names import (
    DURATION_BUCKETS,
    HOOK_BUCKETS,
    TOKEN_BUCKETS,
    Metric,
)
from amplifier_hooks.modules.installation import require

_SCOPE = "amplifier_hooks.guards.otel"
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Target:
    """What makes two sessions use the same pipeline."""

    endpoint: str | None
    headers: tuple[tuple[str, str], ...]
    service: str
    timeout: float
    interval: float

    @property
    def is_global(self) -> bool:
        """Nothing says where to: the program that we are part of may have decided."""
        return self.endpoint is None and not any(
            os.environ.get(f"OTEL_EXPORTER_OTLP_{kind}ENDPOINT")
            for kind in ("", "TRACES_", "METRICS_")
        )


class Pipeline:
    """A tracer and the instruments, and what has to be shut down behind them."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.users = 0
        self.api = require("opentelemetry.trace", "hooks-otel", "otel")
        self._providers: list[Any] = []
        meters = require("opentelemetry.metrics", "hooks-otel", "otel")
        if target.is_global:
            self.tracer = self.api.get_tracer(_SCOPE, _read_version())
            meter = meters.get_meter(_SCOPE, _read_version())
        else:
            self._providers = _create_providers(target)
            self.tracer = self._providers[0].get_tracer(_SCOPE, _read_version())
            meter = self._providers[1].get_meter(_SCOPE, _read_version())
        self.token_usage = meter.create_histogram(
            Metric.TOKEN_USAGE, "{token}", explicit_bucket_boundaries_advisory=TOKEN_BUCKETS
        )
        self.chat_duration = meter.create_histogram(
            Metric.OPERATION_DURATION,
            "s",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
        )
        self.tool_duration = meter.create_histogram(
            Metric.TOOL_DURATION, "s", explicit_bucket_boundaries_advisory=DURATION_BUCKETS
        )
        self.denials = meter.create_counter(Metric.DENIALS, "{denial}")
        self.approvals = meter.create_counter(Metric.APPROVALS, "{approval}")
        self.hook_calls = meter.create_counter(Metric.HOOK_CALLS, "{call}")
        self.hook_shadowed = meter.create_counter(Metric.HOOK_SHADOWED, "{answer}")
        self.hook_failures = meter.create_counter(Metric.HOOK_FAILURES, "{failure}")
        self.hook_timeouts = meter.create_counter(Metric.HOOK_TIMEOUTS, "{timeout}")
        self.hook_duration = meter.create_histogram(
            Metric.HOOK_DURATION, "s", explicit_bucket_boundaries_advisory=HOOK_BUCKETS
        )

    def flush(self, seconds: float) -> None:
        """Send what is waiting. Blocks."""
        for provider in self._providers:
            provider.force_flush(int(seconds * 1000))

    def shut_down(self) -> None:
        """Send what is waiting and end the threads. Blocks."""
        for provider in self._providers:
            provider.shutdown()


_pipelines: dict[Target, Pipeline] = {}


def acquire(target: Target) -> Pipeline:
    """The pipeline to a target. Blocks: the SDK takes half a second to import."""
    with _lock:
        pipeline = _pipelines.get(target)
        if pipeline is None:
            pipeline = _pipelines[target] = Pipeline(target)
        pipeline.users += 1
        return pipeline


def release(pipeline: Pipeline, seconds: float) -> None:
    """Flush; the last user also shuts it down. Blocks."""
    with _lock:
        pipeline.users -= 1
        last = pipeline.users == 0
        if last:
            _pipelines.pop(pipeline.target, None)
    if last:
        pipeline.shut_down()
    else:
        pipeline.flush(seconds)


def _create_providers(target: Target) -> list[Any]:
    """A tracer provider and a meter provider that export by OTLP over HTTP."""
    exporters = "opentelemetry.exporter.otlp.proto.http"
    spans = require(f"{exporters}.trace_exporter", "hooks-otel", "otel")
    metrics = require(f"{exporters}.metric_exporter", "hooks-otel", "otel")
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": target.service, "service.version": _read_version()})
    interval = target.interval * 1000
    span_exporter = spans.OTLPSpanExporter(**_build_options(target, "v1/traces"))
    metric_exporter = metrics.OTLPMetricExporter(**_build_options(target, "v1/metrics"))
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracers.add_span_processor(BatchSpanProcessor(span_exporter, schedule_delay_millis=interval))
    reader = PeriodicExportingMetricReader(metric_exporter, export_interval_millis=interval)
    return [tracers, MeterProvider([reader], resource=resource, shutdown_on_exit=False)]


def _build_options(target: Target, path: str) -> dict[str, Any]:
    options: dict[str, Any] = {"timeout": target.timeout}
    if target.endpoint is not None:
        options["endpoint"] = f"{target.endpoint.rstrip('/')}/{path}"
    if target.headers:
        options["headers"] = dict(target.headers)
    return options


def _read_version() -> str:
    try:
        return version("amplifier-hooks")
    except PackageNotFoundError:
        return "0"
