const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/(?:[^/@\s]*@)?[^/\s]+\/|[\w.-]+@[\w.-]+:)(\S+)$/i;

/** The path that an address of a project's pages or repository ends in; null for what is no address. */
export function pathInAddress(text: string): string | null {
  const path = ADDRESS.exec(text.trim())?.[1];
  if (path === undefined) return null;
  return path
    .replace(/[?#].*$/, '')
    .replace(/\/-\/.*$/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
}

/** `owner/repo` of an address of a repository or one of its pages. */
export function repoInAddress(text: string): string | null {
  const [owner = '', repo = ''] = pathInAddress(text)?.split('/') ?? [];
  return owner === '' || repo === '' ? null : `${owner}/${repo.replace(/\.git$/, '')}`;
}

/** ` (write acme/shop)` where an address shows what was meant. */
export function writeInstead(project: string | null): string {
  return project === null || project === '' ? '' : `; an address is not needed, write ${project}`;
}
