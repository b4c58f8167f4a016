import { createHash } from 'node:crypto';
import type { ControlGroups } from '../../lib/process/index.ts';
import type { ProcessGroups } from './process-groups.ts';

/** Process groups, and the control group of everything that their owner started, wherever it went. */
export interface OwnedProcesses extends ProcessGroups {
  /** Ends whatever the owner's processes left behind. */
  ownerDone(owner: string): Promise<void>;
  /** The living groups of an owner, by their leaders. */
  pidsOf(owner: string): readonly number[];
}

/**
 * Puts what is started into a control group per owner. `isRun` tells whether an owner is a run that is still under way:
 * what one of its processes left may be needed by the next.
 */
export function ownProcesses(
  groups: ProcessGroups,
  controlGroups: Pick<ControlGroups, 'add' | 'end'>,
  isRun: (owner: string) => boolean,
): OwnedProcesses {
  const owners = new Map<number, string>();
  const ownerDone = (owner: string): Promise<void> => controlGroups.end(groupName(owner));
  return {
    ...groups,
    started(pid, owner) {
      owners.set(pid, owner);
      controlGroups.add(groupName(owner), pid);
      groups.started(pid, owner);
    },
    ended(pid) {
      const owner = owners.get(pid);
      owners.delete(pid);
      groups.ended(pid);
      if (owner === undefined || isRun(owner) || [...owners.values()].includes(owner)) return;
      void ownerDone(owner);
    },
    ownerDone,
    pidsOf: (owner) => [...owners].filter(([, name]) => name === owner).map(([pid]) => pid),
    killAll() {
      groups.killAll();
      for (const owner of new Set(owners.values())) void ownerDone(owner);
    },
  };
}

function groupName(owner: string): string {
  return createHash('sha256').update(owner).digest('hex').slice(0, 16);
}
