/** Where something is: a path of this machine, or `host:/path` as programs for copying between hosts write it. */
export interface HostPath {
  /** Null for this machine. */
  readonly host: string | null;
  readonly path: string;
}

export function hostPathText(host: string | null, path: string): string {
  return host === null ? path : `${host}:${path}`;
}

export function hostPathOf(text: string): HostPath {
  const found = /^([^/]+):(\/.*)$/s.exec(text);
  return found === null ? { host: null, path: text } : { host: found[1]!, path: found[2]! };
}

/** What a worker or its host may be called. The queue names its jobs by it, and has no room for more. */
export const LONGEST_HOST_NAME = 64;

/** A worker that was given no name is called by its host's and by the identity that is stored beside its workspaces. */
export function hostName(host: string, identity: string): string {
  return `${host}#${identity}`;
}

/** What a host is called, without the identity. */
export function shownHost(host: string): string {
  return host.replace(/#[0-9a-f]+$/, '');
}

/** The host of such a text as it is shown; null for this machine. */
export function shownHostOf(text: string): string | null {
  const { host } = hostPathOf(text);
  return host === null ? null : shownHost(host);
}
