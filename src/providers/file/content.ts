/** What a file holds, in parts: where a long text changed in one place, all others are shared with what it was before. */
export type Content = readonly Buffer[];

export function joined(content: Content): Buffer {
  return content.length === 1 ? content[0]! : Buffer.concat(content);
}

export function lengthOf(content: Content): number {
  return content.reduce((length, part) => length + part.length, 0);
}

/** Nothing is copied for it. */
export function isSame(content: Content, bytes: Buffer): boolean {
  if (lengthOf(content) !== bytes.length) return false;
  let start = 0;
  return content.every((part) => part.equals(bytes.subarray(start, (start += part.length))));
}

/** What comes behind the first so many bytes. */
export function behind(content: Content, count: number): Content {
  let skipped = 0;
  return content.flatMap((part) => {
    const rest = part.subarray(Math.max(0, count - skipped));
    skipped += part.length;
    return rest.length > 0 ? [rest] : [];
  });
}
