const REDACTED = '[redacted]';
/** A shorter secret cannot be told from ordinary text; masking it would only garble messages. */
const SHORTEST_SECRET = 4;
/** How much of a secret may show at the end of a text that was cut in the middle of it. */
const SHORTEST_REST = 4;
/** Fewer digits would be found in ordinary words. */
const SHORTEST_BASE64 = 8;

/** Replaces every form of every secret, and the user part of any URL, with `[redacted]`. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  return createMask(secrets)(text);
}

/** The same for many texts: the forms of the secrets are worked out once. */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const forms = formsOf(secrets);
  const escaped = plainOf(secrets).map(escapedPattern);
  return (text) => {
    let masked = text;
    for (const form of forms) if (masked.includes(form)) masked = masked.replaceAll(form, REDACTED);
    // Most texts hold no escape at all, and then there is nothing more to look for.
    if (ESCAPE.test(masked)) for (const pattern of escaped) masked = masked.replaceAll(pattern, REDACTED);
    return maskUserinfo(masked);
  };
}

/** The same for a text that was cut at some length: a secret cut in half at its end is masked too. */
export function maskCutSecrets(text: string, secrets: readonly string[]): string {
  for (const form of formsOf(secrets)) {
    for (let length = form.length - 1; length >= SHORTEST_REST; length -= 1) {
      if (!text.endsWith(form.slice(0, length))) continue;
      return maskSecrets(text.slice(0, -length), secrets) + REDACTED;
    }
  }
  return maskSecrets(text, secrets);
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
function escapedPattern(secret: string): RegExp {
  return new RegExp([...secret].map(anyEscapeOf).join(''), 'gi');
}

function anyEscapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  const percent = [...Buffer.from(character, 'utf8')].map((byte) => `%(?:25)*${byte.toString(16).padStart(2, '0')}`).join('');
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at).toString(16).padStart(4, '0'));
  const named = NAMED[character];
  const ways = [
    `\\\\*${literal(character)}`,
    percent,
    `&(?:amp;)*#0*${code};`,
    `&(?:amp;)*#x0*${hex};`,
    units.map((unit) => `\\\\+u${unit}`).join(''),
    ...(named === undefined ? [] : [`&(?:amp;)*${named};`]),
    ...(character === ' ' ? ['\\+'] : []),
    ...(character === '\n' ? ['\\\\+n'] : []),
  ];
  return `(?:${ways.join('|')})`;
}

function literal(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
}
