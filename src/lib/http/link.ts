/**
 * The targets of a `Link` header (RFC 8288) by relation, in lower case. Relative targets are resolved against `base`; the
 * first link of a relation wins; a link about something else (`anchor`) and anything malformed is left out.
 */
export function parseLinkHeader(value: string | null | undefined, base: string): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  for (const { target, params } of readLinks(value ?? '')) {
    const url = resolve(target, base);
    if (!url || params.has('anchor')) continue;
    for (const rel of (params.get('rel') ?? '').toLowerCase().split(/\s+/)) {
      if (rel && !links.has(rel)) links.set(rel, url);
    }
  }
  return links;
}

interface Link {
  readonly target: string;
  readonly params: ReadonlyMap<string, string>;
}

function* readLinks(value: string): Generator<Link> {
  let at = 0;
  while (at < value.length) {
    at = skip(value, at, /[\s,]*/y);
    const end = value[at] === '<' ? value.indexOf('>', at) : -1;
    if (end === -1) {
      at = nextComma(value, at);
      continue;
    }
    const read = readParams(value, end + 1);
    yield { target: value.slice(at + 1, end).trim(), params: read.params };
    at = nextComma(value, read.at);
  }
}

// Zero or more `; name`, `; name=token` or `; name="quoted"`. The first of a name counts, as the RFC says for `rel`.
function readParams(value: string, start: number): { params: Map<string, string>; at: number } {
  const params = new Map<string, string>();
  let at = skip(value, start, /\s*/y);
  while (value[at] === ';') {
    const nameStart = skip(value, at + 1, /\s*/y);
    const nameEnd = skip(value, nameStart, /[^\s=;,"]*/y);
    const name = value.slice(nameStart, nameEnd).toLowerCase();
    at = skip(value, nameEnd, /\s*/y);
    let text = '';
    if (value[at] === '=') ({ text, at } = readValue(value, skip(value, at + 1, /\s*/y)));
    if (name && !params.has(name)) params.set(name, text);
    at = skip(value, at, /\s*/y);
  }
  return { params, at };
}

function readValue(value: string, start: number): { text: string; at: number } {
  if (value[start] !== '"') {
    const end = skip(value, start, /[^\s;,]*/y);
    return { text: value.slice(start, end), at: end };
  }
  let text = '';
  let at = start + 1;
  while (at < value.length && value[at] !== '"') {
    if (value[at] === '\\') at += 1;
    text += value[at] ?? '';
    at += 1;
  }
  return { text, at: at + 1 };
}

/** The place after what the pattern takes, which is sticky and may be nothing. */
function skip(value: string, start: number, taken: RegExp): number {
  // Behind the end a sticky pattern would begin anew.
  if (start >= value.length) return start;
  taken.lastIndex = start;
  taken.test(value);
  return taken.lastIndex;
}

function nextComma(value: string, start: number): number {
  const comma = value.indexOf(',', start);
  return comma === -1 ? value.length : comma + 1;
}

function resolve(target: string, base: string): string | undefined {
  try {
    return new URL(target, base).href;
  } catch {
    return undefined;
  }
}
