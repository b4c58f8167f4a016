import type { Removal, Workspaces } from '../../ports/workspace.ts';

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
    async remove(subject, signal) {
      const known = (subject.hosts ?? []).flatMap((host) => there.get(host) ?? []);
      const places = known.length > 0 ? known : [here, ...there.values()];
      let found: Removal = { removed: false, path: '', aside: null };
      for (const workspaces of places) {
        const removal = await workspaces.remove(subject, signal);
        if (removal.removed) found = removal;
      }
      return found;
    },
  };
}
