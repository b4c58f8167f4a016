import { describe, expect, it } from 'vitest';
import { WorkspaceError } from '../../domain/model/errors.ts';
import type { Removal, RemovalSubject, Workspaces } from '../../ports/workspace.ts';
import { createWorkspacesOfHosts, createWorkspacesOfWorkers } from './all-hosts.ts';

const NEVER = new AbortController().signal;

/** Machines of which these hold the workspace, and which of them were asked to remove it. */
function machines(...holders: string[]) {
  const asked: string[] = [];
  const remove = (name: string): Promise<Removal> => {
    asked.push(name);
    return Promise.resolve({ removed: holders.includes(name), path: `/${name}`, aside: null });
  };
  const on = (name: string) => ({ remove: () => remove(name) }) as unknown as Workspaces;
  const onWorker = async (name: string): Promise<Removal> => {
    if (!holders.includes(name)) throw new WorkspaceError('remove', `${name} is not there`, { retryable: true });
    return remove(name);
  };
  return { asked, on, onWorker };
}

const heldBy = (...hosts: string[]) => ({ identifier: 'A-1', recorded: true, paths: [], hosts }) as unknown as RemovalSubject;

describe('the workspaces of SSH hosts', () => {
  const removal = (hosts: readonly string[], { on, onWorker }: ReturnType<typeof machines>) =>
    createWorkspacesOfHosts(on('here'), new Map(['a', 'b'].map((name) => [name, on(name)])), onWorker).remove(
      heldBy(...hosts),
      NEVER,
    );

  it.each([
    ['from the host that holds it', ['b'], ['b'], ['b']],
    ['from everywhere where nobody knows who holds it', [], ['here'], ['here', 'a', 'b']],
    ['wherever it is found where its host has another name now', ['old'], ['b'], ['here', 'a', 'b']],
    ['from a worker that holds it', ['w'], ['w'], ['here', 'a', 'b', 'w']],
  ])('are removed %s', async (_what, hosts, holders, asked) => {
    const known = machines(...holders);
    expect(await removal(hosts, known)).toMatchObject({ removed: true });
    expect(known.asked).toEqual(asked);
  });

  it('stay recorded where a host that holds one is not named any more', async () => {
    const known = machines('a');
    await expect(removal(['a', 'old'], known)).rejects.toThrow('old is not there');
    expect(known.asked).toEqual(['a', 'here', 'b']);
  });
});

describe('the workspaces of workers', () => {
  it.each([
    ['from this machine', [], '/here'],
    ['from the worker that holds it', ['w'], 'w:/w'],
  ])('are removed %s', async (_what, hosts, path) => {
    const { on, onWorker } = machines('w', 'here');
    expect(await createWorkspacesOfWorkers(on('here'), onWorker).remove(heldBy(...hosts), NEVER)).toMatchObject({ path });
  });

  it('stay recorded while the worker is not there', async () => {
    const { on, onWorker } = machines('here');
    await expect(createWorkspacesOfWorkers(on('here'), onWorker).remove(heldBy('w'), NEVER)).rejects.toThrow('w is not there');
  });
});
