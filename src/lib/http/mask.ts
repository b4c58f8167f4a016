const REDACTED = '[redacted]';
/** A shorter secret cannot be told from ordinary text; masking it would only garble messages. */
const SHORTEST_SECRET = 4;
/** How much of a secret may show at the end of a text that was cut in the middle of it. */
const SHORTEST_REST = 4;

/** Replaces every form of every secret, and the user part of any URL, with `[redacted]`. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  return createMask(secrets)(text);
}

/** The same for many texts: the forms of the secrets are worked out once. */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const forms = formsOf(secrets);
  return (text) => {
    let masked = text;
    for (const form of forms) masked = masked.replaceAll(form, REDACTED);
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
  // A scheme has a bounded length: without one, a long run of letters takes quadratic time.
  return text.replace(/([a-z][a-z0-9+.-]{0,30}:\/\/)[^/?#\s"'<>]*@/gi, `$1${REDACTED}@`);
}

// Longest first, so that a secret inside another one leaves no rest behind.
function formsOf(secrets: readonly string[]): string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    for (const plain of [secret, secret.trim()]) {
      if (plain.length < SHORTEST_SECRET) continue;
      const base64 = Buffer.from(plain, 'utf8').toString('base64');
      const escaped = JSON.stringify(plain).slice(1, -1);
      for (const form of [plain, base64, base64.replace(/=+$/, ''), Buffer.from(plain, 'utf8').toString('base64url')])
        forms.add(form);
      for (const form of [encodeURIComponent(plain), escaped]) forms.add(form);
    }
  }
  return [...forms].sort((a, b) => b.length - a.length);
}
