/**
 * What answers requests, in pieces that each take a few milliseconds to load: whoever loads it before somebody asks does so
 * one by one, and whatever else the service does goes on between them. The last pieces take the others as loaded.
 */
export const PRELOADS: readonly (() => Promise<unknown>)[] = [
  // What Node makes requests and answers of.
  () => Promise.resolve(new Headers()),
  () => import('node:http2'),
  () => import('./answers.ts'),
  () => import('./metrics/metrics.ts'),
  () => import('./api/openapi/index.ts'),
  () => import('./dashboard/assets.ts'),
  () => import('./dashboard/board.ts'),
  () => import('./dashboard/statistics-page.ts'),
  () => import('./dashboard/run-page.ts'),
  () => import('./index.ts'),
];
