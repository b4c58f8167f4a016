/** The headers of an answer: names in any case, a repeated one joined by commas. */
export interface ReplyHeaders extends Iterable<[string, string]> {
  get(name: string): string | null;
}

/** Of the bytes that came, a name and its value in turns. */
export function replyHeaders(raw: readonly Buffer[]): ReplyHeaders {
  const values = new Map<string, string>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = textOf(raw[at]).toLowerCase();
    const before = values.get(name);
    const value = textOf(raw[at + 1]).trim();
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headersOf(values);
}

/** The older ones, where the newer do not say otherwise. */
export function mergedHeaders(older: ReplyHeaders, newer: ReplyHeaders, except: string): ReplyHeaders {
  const values = new Map(older);
  for (const [name, value] of newer) if (name !== except) values.set(name, value);
  return headersOf(values);
}

function headersOf(values: ReadonlyMap<string, string>): ReplyHeaders {
  return {
    get: (name) => values.get(name) ?? values.get(name.toLowerCase()) ?? null,
    [Symbol.iterator]: () => values[Symbol.iterator](),
  };
}

function textOf(bytes: Buffer | undefined): string {
  return bytes?.toString('latin1') ?? '';
}
