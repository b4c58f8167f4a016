import type { Provider } from '../ports/provider.ts';

/** Every tracker kind, alphabetical by kind. Each is loaded when it is asked for: a daemon watches one. */
const KINDS: Readonly<Record<string, () => Promise<{ readonly provider: Provider }>>> = {
  file: () => import('./file/index.ts'),
  graphql: () => import('./linear/index.ts'),
  nsproject: () => import('./gitlab/index.ts'),
  repoissues: () => import('./github/index.ts'),
  selfhosted: () => import('./gitea/index.ts'),
  wfboard: () => import('./jira/index.ts'),
};

/** One tracker kind whole, by its canonical name. */
export async function loadProvider(kind: string): Promise<Provider> {
  const load = KINDS[kind];
  if (!load) throw new Error(`unknown tracker kind ${kind}`);
  return (await load()).provider;
}

/** All of them, in the order in which lists of kinds are shown. */
export function loadProviders(): Promise<readonly Provider[]> {
  return Promise.all(Object.keys(KINDS).map(loadProvider));
}
