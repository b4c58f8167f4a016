const REDACTED = '[redacted]';
/** A shorter secret cannot be told from ordinary text; masking it would only garble messages. */
const SHORTEST_SECRET = 4;
/** Less of a secret than this may show where a text was cut in the middle of it. */
const SHORTEST_REST = 4;
/** Fewer digits would be found in ordinary words. */
const SHORTEST_BASE64 = 8;

/** Where a text was cut out of a longer one: there it may begin or end inside of a secret. */
export type Cut = 'start' | 'end' | null;

export interface Mask {
  /** Replaces every form of every secret, and the user part of any URL, with `[redacted]`; at a cut also what is left of one. */
  (text: string, cut?: Cut): string;
  /** How many characters at the end may be the beginning of a secret, of which the rest is still to come. */
  readonly unfinished: (text: string) => number;
}

export function maskSecrets(text: string, secrets: readonly string[], cut: Cut = null): string {
  return createMask(secrets)(text, cut);
}

/** The same for many texts: the forms of the secrets are worked out once. */
export function createMask(secrets: readonly string[]): Mask {
  const forms = formsOf(secrets);
  const escaped = plainOf(secrets).flatMap(escapedPattern);
  const torn = tornFormsOf(secrets, forms);
  const unfinished = (text: string): number => longest(torn, (form) => lengthOfStart(form, text));
  const whole = (text: string): string => {
    let masked = text;
    for (const form of forms) if (masked.includes(form)) masked = masked.replaceAll(form, REDACTED);
    // Most texts hold no escape at all, and then there is nothing more to look for.
    if (ESCAPE.test(masked)) for (const pattern of escaped) masked = masked.replaceAll(pattern, REDACTED);
    return maskUserinfo(masked);
  };
  const mask = (text: string, cut: Cut = null): string => {
    const masked = whole(text);
    const rest = cut === 'end' ? unfinished(masked) : cut === 'start' ? longest(torn, (form) => lengthOfEnd(form, masked)) : 0;
    if (rest === 0) return masked;
    return cut === 'end' ? masked.slice(0, -rest) + REDACTED : REDACTED + masked.slice(rest);
  };
  return Object.assign(mask, { unfinished });
}

/** Escaped in the ways that are usual, besides all others: at a cut a pattern finds nothing. */
function tornFormsOf(secrets: readonly string[], forms: readonly string[]): readonly string[] {
  const escaped = plainOf(secrets).flatMap((secret) => [encodedForUrl(secret), JSON.stringify(secret).slice(1, -1)]);
  return [...new Set([...forms, ...escaped])];
}

function encodedForUrl(secret: string): string {
  return secret.isWellFormed() ? encodeURIComponent(secret) : secret;
}

function longest(forms: readonly string[], lengthIn: (form: string) => number): number {
  return forms.reduce((found, form) => Math.max(found, lengthIn(form)), 0);
}

/** How much of the beginning of a form the text ends with, where that is not all of it. */
function lengthOfStart(form: string, text: string): number {
  const last = text.at(-1);
  for (let length = Math.min(form.length - 1, text.length); length >= SHORTEST_REST; length -= 1) {
    if (form[length - 1] === last && text.endsWith(form.slice(0, length))) return length;
  }
  return 0;
}

/** How much of the end of a form the text begins with, where that is not all of it. */
function lengthOfEnd(form: string, text: string): number {
  const [first] = text;
  for (let length = Math.min(form.length - 1, text.length); length >= SHORTEST_REST; length -= 1) {
    if (form[form.length - length] === first && text.startsWith(form.slice(-length))) return length;
  }
  return 0;
}

// `https://user:pass@host/` becomes `https://[redacted]@host/`.
function maskUserinfo(text: string): string {
  // The last @ before the path ends the user part: a password may hold an @ itself.
  if (!text.includes('@') || !text.includes('://')) return text;
  // A scheme has a bounded length: without one, a long run of letters takes quadratic time.
  return text.replace(/([a-z][a-z0-9+.-]{0,30}:\/\/)[^/?#\s"'<>]*@/gi, `$1${REDACTED}@`);
}

// Longest first, so that a secret inside another one leaves no rest behind.
function plainOf(secrets: readonly string[]): string[] {
  const plain = secrets.flatMap((secret) => [secret, secret.trim()]).filter((secret) => secret.length >= SHORTEST_SECRET);
  return [...new Set(plain)].sort((a, b) => b.length - a.length);
}

/** The secrets as they are, and encoded as a whole. */
function formsOf(secrets: readonly string[]): string[] {
  const forms = new Set<string>();
  for (const plain of plainOf(secrets)) {
    const bytes = Buffer.from(plain, 'utf8');
    const hex = bytes.toString('hex');
    for (const form of [plain, hex, hex.toUpperCase(), ...base64Of(bytes)]) forms.add(form);
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

/**
 * In base64, alone and inside of something longer, such as `user:token`: what stands before shifts it by no, one or two
 * bytes, and the digits that it shares with its neighbours are left out.
 */
function base64Of(bytes: Buffer): string[] {
  const inside = [0, 1, 2].map((shift) => {
    const digits = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const [first, shared] = [Math.ceil((shift * 8) / 6), (shift + bytes.length) % 3 === 0 ? 0 : 1];
    return digits.slice(first, digits.length - shared);
  });
  const long = inside.filter((digits) => digits.length >= SHORTEST_BASE64);
  const standard = [bytes.toString('base64'), bytes.toString('base64').replace(/=+$/, ''), ...long];
  return [...standard, ...standard.map((digits) => digits.replaceAll('+', '-').replaceAll('/', '_'))];
}

/** What every escape below begins with. */
const ESCAPE = /[%&\\+]/;
const NAMED: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
  '/': 'sol',
  '+': 'plus',
};

/** The secret with any of its characters escaped in any way: for URLs (once or more), HTML, JSON and shells. */
function escapedPattern(secret: string): readonly RegExp[] {
  // Backslashes in front of all are left out: each of a long row of them would be taken for the beginning, up to the end of the row.
  const characters = Array.from(secret.replace(/^\\+/, '').replaceAll(/\\+/g, '\\'));
  if (characters.length === 0) return [];
  const ways = characters.map((character, at) => {
    if (character === '\\') return BACKSLASHES;
    // Only one part of the pattern may take a row of them: two would share it out in every way there is.
    return anyEscapeOf(character, at === 0 || characters[at - 1] === '\\' ? '' : MORE_SLASHES);
  });
  return [new RegExp(ways.join(''), 'gi')];
}

/** One or more, escaped in any way. */
const BACKSLASHES = String.raw`(?:\\(?:u005c)?|%(?:25)*5c|&(?:amp;)*(?:#0*92|#x0*5c|bsol);)+`;

/** What is escaped more than once has more than one. */
const MORE_SLASHES = '\\\\*';

function anyEscapeOf(character: string, slashes: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  const percent = [...Buffer.from(character, 'utf8')].map((byte) => `%(?:25)*${byte.toString(16).padStart(2, '0')}`).join('');
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at).toString(16).padStart(4, '0'));
  const named = NAMED[character];
  const ways = [
    `${slashes}${literal(character)}`,
    percent,
    `&(?:amp;)*#0*${code};`,
    `&(?:amp;)*#x0*${hex};`,
    units.map((unit) => `${slashes}\\\\u${unit}`).join(''),
    ...(named === undefined ? [] : [`&(?:amp;)*${named};`]),
    ...(character === ' ' ? ['\\+'] : []),
    ...(character === '\n' ? [`${slashes}\\\\n`] : []),
  ];
  return `(?:${ways.join('|')})`;
}

function literal(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
}
