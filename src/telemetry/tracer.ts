import type { Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

/**
 * The official exporter; it reads the OTEL_EXPORTER_OTLP_* variables by itself. It gives each message up after `timeoutMs`,
 * unless they say otherwise: what it tries for longer would hold the process when the daemon has ended.
 */
export function openTracer(
  version: string,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs: number,
): { readonly tracer: Tracer; shutdown(): Promise<void> } {
  const isTimed = TIMEOUTS.some((name) => (env[name] ?? '').trim() !== '');
  const exporter = new OTLPTraceExporter(isTimed ? {} : { timeoutMillis: timeoutMs });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': env['OTEL_SERVICE_NAME'] ?? 'foray',
      'service.version': version,
    }),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1_000 })],
  });
  return { tracer: provider.getTracer('foray', version), shutdown: () => provider.shutdown() };
}

const TIMEOUTS = ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'] as const;
