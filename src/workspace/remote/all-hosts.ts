import { hostPathText } from '../../domain/model/host-path.ts';
import type { Removal, RemovalSubject, Workspaces } from '../../ports/workspace.ts';

/** Has a host remove a workspace that it holds. Rejects where it cannot be asked. */
export type RemoveOn = (host: string, subject: RemovalSubject, signal: AbortSignal) => Promise<Removal>;

/**
 * The workspaces of this machine and of every host, for what is done when no run is under way: listing and removing. A
 * run itself works with those of its own host. One that a host holds which is not among them may be found under another
 * name of that host; where it is not, its host may be a worker.
 */
export function createWorkspacesOfHosts(
  here: Workspaces,
  there: ReadonlyMap<string, Workspaces>,
  removeOn: RemoveOn,
): Workspaces {
  return {
    ...here,
    async list() {
      const names = await Promise.all([here, ...there.values()].map((workspaces) => workspaces.list()));
      return [...new Set(names.flat())];
    },
    remove(subject, signal) {
      const hosts = subject.hosts ?? [];
      const known = hosts.flatMap((host) => there.get(host) ?? []);
      const others = [here, ...there.values()].filter((place) => !known.includes(place));
      const from = (places: readonly Workspaces[]) => places.map((place) => () => place.remove(subject, signal));
      if (hosts.length === 0) return removeFromAll(from(others));
      const unknown = hosts.filter((host) => !there.has(host));
      const elsewhere = async (): Promise<Removal> => {
        const found = await removeFromAll(from(others));
        return found.removed ? found : removeFromAll(unknown.map((host) => () => askHost(host, subject, removeOn, signal)));
      };
      return removeFromAll([...from(known), ...(unknown.length > 0 ? [elsewhere] : [])]);
    },
  };
}

/** The same where hosts are workers: they are asked, each for the workspace that it holds. */
export function createWorkspacesOfWorkers(here: Workspaces, removeOn: RemoveOn): Workspaces {
  return {
    ...here,
    remove(subject, signal) {
      const hosts = subject.hosts ?? [];
      if (hosts.length === 0) return here.remove(subject, signal);
      // Of the same name on this machine only what is marked as the issue's own is removed.
      const own = (): Promise<Removal> => here.remove({ ...subject, recorded: false }, signal);
      return removeFromAll([own, ...hosts.map((host) => () => askHost(host, subject, removeOn, signal))]);
    },
  };
}

async function askHost(host: string, subject: RemovalSubject, removeOn: RemoveOn, signal: AbortSignal): Promise<Removal> {
  const removal = await removeOn(host, { ...subject, paths: [] }, signal);
  return { ...removal, path: hostPathText(host, removal.path) };
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
