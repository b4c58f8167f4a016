/** The value as JSON that steers no terminal. JSON leaves some characters as they are at which lines break or text turns around. */
export function visibleJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return text.replaceAll(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// oxlint-disable-next-line no-control-regex -- these are the characters to look for
const HIDDEN = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;
