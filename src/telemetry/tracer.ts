import type { Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

/** The official exporter; it reads the OTEL_EXPORTER_OTLP_* variables by itself. */
export function openTracer(
  version: string,
  env: Readonly<Record<string, string | undefined>>,
): { readonly tracer: Tracer; shutdown(): Promise<void> } {
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': env['OTEL_SERVICE_NAME'] ?? 'foray',
      'service.version': version,
    }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(), { scheduledDelayMillis: 1_000 })],
  });
  return { tracer: provider.getTracer('foray', version), shutdown: () => provider.shutdown() };
}
