import { isUtf8 } from 'node:buffer';

/*
 * A text that is changed in one place and written back has to keep all other bytes, also those that are no UTF-8. Each of
 * them stands in the text as half a surrogate pair, which no valid text has.
 */

export function wholeTextOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const start = at;
    const length = LENGTHS.find((count) => isUtf8(bytes.subarray(start, start + count)));
    text += length === undefined ? String.fromCharCode(ODD + bytes[at]!) : bytes.toString('utf8', at, at + length);
    at += length ?? 1;
  }
  return text;
}

export function bytesOf(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  const parts = text.split(/([\udc80-\udcff])/u);
  return Buffer.concat(parts.map((part, place) => (place % 2 === 0 ? Buffer.from(part, 'utf8') : oddByte(part))));
}

/** The same as anybody else reads it. */
export function asRead(text: string): string {
  return text.isWellFormed() ? text : bytesOf(text).toString('utf8');
}

/** Of one character in bytes. */
const LENGTHS = [1, 2, 3, 4];
const ODD = 0xdc00;

function oddByte(half: string): Buffer {
  return Buffer.from([half.charCodeAt(0) - ODD]);
}
