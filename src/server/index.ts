/** All that answers requests, loaded when the first one comes. */
export { createEndedLogins } from './ended-logins.ts';
export { createMetrics } from './metrics.ts';
export { createSite } from './routes.ts';
