import { createHash, timingSafeEqual } from 'node:crypto';

/** Takes the same time whatever is given. */
export function isSame(given: string | Buffer, wanted: string): boolean {
  const digest = (value: string | Buffer) => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

/** The same for the value of a header, of which Node gives each byte as a character: a secret that is no ASCII comes as UTF-8. */
export function isSameInHeader(given: string, wanted: string): boolean {
  const [asIs, asBytes] = [isSame(given, wanted), isSame(Buffer.from(given, 'latin1'), wanted)];
  return asIs || asBytes;
}
