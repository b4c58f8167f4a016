import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { eventually, type Playground, type RunningDaemon } from '../support/daemon.ts';

/** Issues and on in `issues.json`, as people edit them while a daemon runs. */
export interface FileIssues {
  add(number: number): Promise<void>;
  set(number: number, state: string): Promise<void>;
  handedOff(number: number): Promise<void>;
}

export function fileIssues(ground: Playground): FileIssues {
  const read = () => ground.readIssues().catch(() => []);
  const set = async (number: number, state: string): Promise<void> => {
    const [id, all] = [`${number}`, await read()];
    const known = all.find((issue) => issue['id'] === id) ?? { id, identifier: `A-${id}`, title: `Issue ${id}` };
    const next = [...all.filter((issue) => issue['id'] !== id), { ...known, state }];
    // As an editor saves: whole or not at all.
    writeFileSync(ground.path('issues.json.new'), JSON.stringify(next.toSorted((a, b) => Number(a['id']) - Number(b['id']))));
    renameSync(ground.path('issues.json.new'), ground.path('issues.json'));
  };
  return {
    set,
    add: (number) => set(number, 'todo'),
    async handedOff(number) {
      const look = async () => (await ground.readIssues()).find(({ id }) => id === `${number}`)?.['state'];
      await eventually(look, (state) => state === 'review', `the handoff of A-${number}`);
    },
  };
}

/** Asks for a sign of life all the while, and tells how long the slowest one took. */
export async function slowestAnswer(daemon: RunningDaemon, ms: number): Promise<number> {
  let slowest = 0;
  for (const until = performance.now() + ms; performance.now() < until; await delay(50)) {
    const begin = performance.now();
    expect((await daemon.get('/livez')).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - begin);
  }
  return slowest;
}
