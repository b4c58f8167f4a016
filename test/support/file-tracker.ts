import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { TrackerSettings } from '../../src/domain/model/settings.ts';
import type { Tracker } from '../../src/ports/tracker.ts';
import { provider } from '../../src/providers/file/index.ts';
import { settingsWith } from './settings.ts';
import { createLogRecorder } from './workspaces.ts';

export const signal = new AbortController().signal;

/** A record as it stands in the file. */
export function issue(number: number, more: object = {}): Record<string, unknown> {
  return { id: String(number), identifier: `ABC-${number}`, title: `Issue ${number}`, state: 'todo', ...more };
}

/** Every test has a folder of its own, with the file of its tracker, and what was logged. */
export let directory = '';
export let file = '';
export let log = createLogRecorder();

/** To be called once by a file of tests. */
export function useFolders(): void {
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'file-tracker-'));
    file = path.join(directory, 'issues.json');
    log = createLogRecorder();
  });
  afterEach(() => rm(directory, { recursive: true }));
}

export function open(location = 'issues.json', settings: Partial<TrackerSettings> = {}): Tracker {
  const { tracker } = settingsWith({ tracker: { options: { path: location }, ...settings } });
  const clock = { now: () => Date.UTC(2026, 1, 2) };
  return provider.createTracker(tracker, { version: 'dev', workflowDir: directory, clock, logger: log });
}

export function save(records: unknown): Promise<void> {
  return writeFile(file, typeof records === 'string' ? records : JSON.stringify(records));
}

export function reasons(): unknown[] {
  return log.records.map(({ attributes }) => attributes['reason']);
}

export async function identifiers(tracker: Tracker): Promise<string[]> {
  return (await tracker.fetchCandidateIssues(signal)).map(({ identifier }) => identifier);
}
