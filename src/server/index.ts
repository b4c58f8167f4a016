/** All that answers requests, loaded when the first one comes. */
export { createMetrics } from './metrics/metrics.ts';
export { createSite } from './routes.ts';
