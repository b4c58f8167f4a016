import { expect, it } from 'vitest';
import { ownProcesses } from './owned-processes.ts';

it('ends what an owner left only when its last process has ended', () => {
  const ended: string[] = [];
  const groups = { started: () => {}, ended: () => {}, killAll: () => {}, stop: async () => {} };
  const controlGroups = { add: () => {}, end: async (name: string) => void ended.push(name) };
  const processes = ownProcesses(groups, controlGroups, () => false);
  processes.started(1, 'hook');
  processes.started(2, 'hook');
  processes.ended(1);
  expect(ended).toHaveLength(0);
  processes.ended(2);
  expect(ended).toHaveLength(1);
});
