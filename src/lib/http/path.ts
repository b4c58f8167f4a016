import { percentEncoded } from '../percent-encoded.ts';
import { HttpRefusedError } from './errors.ts';

/**
 * Writes a path with every inserted value percent-encoded exactly once:
 * path`/repos/${owner}/${repo}/labels/${name}`.
 */
export function path(parts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return parts.reduce((written, part, index) => written + percentEncoded(values[index - 1] ?? '') + part);
}

/**
 * Joins a path to a base address. A value such as `..` survives percent-encoding and would silently name another resource
 * (a URL drops such segments, also when written %2e%2e), so a path that holds one is refused.
 */
export function joinPath(base: URL, added: string): URL {
  if (added.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) {
    throw new HttpRefusedError('the path holds a . or .. segment, which cannot be sent');
  }
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/+$/, '') + added;
  return url;
}
