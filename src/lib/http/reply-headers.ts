import type { IncomingHttpHeaders } from 'node:http';

/** The headers of an answer: names in any case, a repeated one joined by commas. */
export interface ReplyHeaders extends Iterable<[string, string]> {
  get(name: string): string | null;
}

/** Of what came, by names in lower case. */
export function replyHeaders(came: IncomingHttpHeaders): ReplyHeaders {
  const values = new Map<string, string>();
  for (const name of Object.keys(came)) {
    const value = came[name];
    if (value !== undefined)
      values.set(name, typeof value === 'string' ? value.trim() : value.map((one) => one.trim()).join(', '));
  }
  return headersOf(values);
}

/** The older ones, where the newer do not say otherwise. */
export function mergedHeaders(older: ReplyHeaders, newer: ReplyHeaders, except: string): ReplyHeaders {
  const ofNewer = (name: string): string | null => (name.toLowerCase() === except ? null : newer.get(name));
  return {
    get: (name) => ofNewer(name) ?? older.get(name),
    *[Symbol.iterator]() {
      const values = new Map([...older, ...newer].map(([name]) => [name, ofNewer(name) ?? older.get(name)]));
      for (const [name, value] of values) if (value !== null) yield [name, value];
    },
  };
}

function headersOf(values: ReadonlyMap<string, string>): ReplyHeaders {
  return {
    get: (name) => values.get(name) ?? values.get(name.toLowerCase()) ?? null,
    [Symbol.iterator]: () => values[Symbol.iterator](),
  };
}
