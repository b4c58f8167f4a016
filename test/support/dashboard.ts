import { aSnapshot, createFakeDaemon, type FakeDaemon } from './fake-daemon.ts';
import { textOf } from './page-text.ts';
import type { Snapshot } from '../../src/domain/views/snapshot.ts';
import { createMetrics } from '../../src/server/metrics/metrics.ts';
import { createApp } from '../../src/server/routes.ts';

export async function load(path: string, daemon: FakeDaemon) {
  const response = await createApp(
    daemon,
    createMetrics(daemon.notices, () => daemon.snapshot()),
  ).request(path);
  return { status: response.status, type: response.headers.get('content-type'), page: await response.text() };
}
export async function dashboard(changes: Partial<Snapshot> = {}, more: Parameters<typeof createFakeDaemon>[0] = {}) {
  const { page } = await load('/', createFakeDaemon({ current: aSnapshot(changes), ...more }));
  return { page, text: textOf(page) };
}
/** One panel of the page, by its heading's id. */
export function panelOf(page: string, id: string): string {
  return textOf(page.split(`data-key="panel-${id}"`)[1]?.split('</section>')[0] ?? '');
}
