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

/** Where a collector is named, in the order of the exporter. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/**
 * Sends traces to the collector that OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) names. Without
 * one nothing is loaded. Returns the way to stop, which sends what is left.
 */
export async function startTelemetry(deps: TelemetryDeps): Promise<() => Promise<void>> {
  const { env, logger, version } = deps;
  const variable = ENDPOINTS.find((name) => (env[name] ?? '').trim() !== '');
  if (variable === undefined || env['OTEL_SDK_DISABLED'] === 'true') return async () => {};
  const endpoint = withoutCredential(env[variable] ?? '');
  if (endpoint === null) {
    logger.warn('no traces are sent, the address of the collector is none', { variable, remedy: 'write it as http://HOST:PORT' });
    return async () => {};
  }
  const { openTracer } = await import('./tracer.ts');
  const { traceNotices } = await import('./spans.ts');
  const { tracer, shutdown } = openTracer(version, env, FLUSH_MS);
  const spans = traceNotices(tracer, deps);
  logger.info('traces are sent', { endpoint });
  return async () => {
    spans.stop();
    const sent = await Promise.race([shutdown().then(() => true), afterwards(FLUSH_MS)]).catch(() => false);
    if (!sent) logger.warn('the last traces could not be sent', { endpoint });
  };
}

function afterwards(ms: number): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
}

/** Null for what is no address that traces can be sent to. */
function withoutCredential(endpoint: string): string | null {
  if (!URL.canParse(endpoint)) return null;
  const { protocol, origin, pathname } = new URL(endpoint);
  return /^https?:$/.test(protocol) ? `${origin}${pathname}` : null;
}
