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
