import { describe, expect, it } from 'vitest';
import { trackProcessGroups } from './process-groups.ts';

describe('process groups', () => {
  it('never fail whoever starts or ends a process: a record the database did not take is written later', async () => {
    const written: string[] = [];
    const faults: unknown[] = [];
    let locked = true;
    const record = (text: string): void => {
      if (locked) throw new Error('database is locked');
      written.push(text);
    };
    const groups = trackProcessGroups(
      { started: (pid) => record(`+${pid}`), ended: (pid) => record(`-${pid}`) },
      (fault) => void faults.push(fault),
    );
    groups.started(11, 'run');
    groups.ended(11);
    groups.started(12, 'run');
    expect(written).toEqual([]);
    expect(faults).toHaveLength(1);
    locked = false;
    await expect.poll(() => written).toEqual(['+11', '-11', '+12']);
    groups.stop();
  });
});
