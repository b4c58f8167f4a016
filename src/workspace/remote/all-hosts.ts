import { hostPathText } from '../../domain/model/host-path.ts';
import type { Removal, RemovalSubject, Workspaces } from '../../ports/workspace.ts';

/**
 * The workspaces of this machine and of every host, for what is done when no run is under way: listing and removing. A
 * run itself works with those of its own host.
 */
export function createWorkspacesOfHosts(here: Workspaces, there: ReadonlyMap<string, Workspaces>): Workspaces {
  return {
    ...here,
    async list() {
      const names = await Promise.all([here, ...there.values()].map((workspaces) => workspaces.list()));
      return [...new Set(names.flat())];
    },
    remove(subject, signal) {
      const known = (subject.hosts ?? []).flatMap((host) => there.get(host) ?? []);
      const places = known.length > 0 ? known : [here, ...there.values()];
      return removeFromAll(places.map((workspaces) => () => workspaces.remove(subject, signal)));
    },
  };
}

/** Has a host remove a workspace that it holds. */
export type RemoveOn = (host: string, subject: RemovalSubject, signal: AbortSignal) => Promise<Removal>;

/** The same where the hosts are workers: they are asked, each for the workspace that it holds. */
export function createWorkspacesOfWorkers(here: Workspaces, removeOn: RemoveOn): Workspaces {
  return {
    ...here,
    remove(subject, signal) {
      const hosts = subject.hosts ?? [];
      if (hosts.length === 0) return here.remove(subject, signal);
      const askHost = async (host: string): Promise<Removal> => {
        const removal = await removeOn(host, { ...subject, paths: [] }, signal);
        return { ...removal, path: hostPathText(host, removal.path) };
      };
      // Of the same name on this machine only what is marked as the issue's own is removed.
      const own = (): Promise<Removal> => here.remove({ ...subject, recorded: false }, signal);
      return removeFromAll([own, ...hosts.map((host) => () => askHost(host))]);
    },
  };
}

/** One that fails keeps none of the others from being removed. */
async function removeFromAll(places: readonly (() => Promise<Removal>)[]): Promise<Removal> {
  let found: Removal = { removed: false, path: '', aside: null };
  const failures: unknown[] = [];
  for (const remove of places) {
    try {
      const removal = await remove();
      if (removal.removed) found = removal;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return found;
}
