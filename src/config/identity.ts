/**
 * Whose issues these are: kind, endpoint and project as one text. Spellings that lead to the same place are one: case
 * of host and project, trailing slashes, the API suffix, a user in the address.
 */
export function identityOf(kind: string, endpoint: string, project: string): string {
  return `${forgeIdentity(kind, endpoint)} ${project.trim().toLowerCase()}`;
}

/** Whose merge requests these are: the same without the project. */
export function forgeIdentity(kind: string, endpoint: string): string {
  return `${kind} ${plainEndpoint(endpoint)}`;
}

function plainEndpoint(endpoint: string): string {
  const text = endpoint.trim();
  if (!URL.canParse(text)) return text;
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${trimmed(trimmed(pathname).replace(/\/api\/v\d+$/, ''))}`;
}

function trimmed(path: string): string {
  return path.replace(/\/+$/, '');
}
