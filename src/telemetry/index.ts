import type { NoticeBus } from '../ports/events.ts';
import type { Logger } from '../ports/runtime.ts';

export interface TelemetryDeps {
  readonly notices: NoticeBus;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly logger: Logger;
}

/** How long what was not sent yet may take when the daemon ends. */
const FLUSH_MS = 3_000;

/**
 * Sends traces to the collector that OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) names. Without
 * one nothing is loaded. Returns the way to stop, which sends what is left.
 */
export async function startTelemetry(deps: TelemetryDeps): Promise<() => Promise<void>> {
  const { env, logger, version } = deps;
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '';
  if (endpoint === '' || env['OTEL_SDK_DISABLED'] === 'true') return async () => {};
  const { openTracer } = await import('./tracer.ts');
  const { traceNotices } = await import('./spans.ts');
  const { tracer, shutdown } = openTracer(version, env);
  const spans = traceNotices(tracer, deps);
  logger.info('traces are sent', { endpoint: withoutCredential(endpoint) });
  return async () => {
    spans.stop();
    const sent = await Promise.race([shutdown().then(() => true), afterwards(FLUSH_MS)]).catch(() => false);
    if (!sent) logger.warn('the last traces could not be sent', { endpoint: withoutCredential(endpoint) });
  };
}

function afterwards(ms: number): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
}

function withoutCredential(endpoint: string): string {
  if (!URL.canParse(endpoint)) return '(not an address)';
  const { origin, pathname } = new URL(endpoint);
  return `${origin}${pathname}`;
}
