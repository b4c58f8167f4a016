/** `#` asks for backquotes where the text fits between them, `+` for ASCII alone. */
export function quoted(text: string, flags: string): string {
  if (flags.includes('#') && fitsBackquotes(text)) return `\`${text}\``;
  return flags.includes('+') ? quoteGo(text, /["\\]|[^ -~]/gu) : quoteGo(text);
}

function fitsBackquotes(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- Go keeps tabs and no other control character
  return !/[\u0000-\u0008\u000a-\u001f`\u007f\ufeff]|\p{Surrogate}/u.test(text);
}

/** A string literal as Go writes it: printable characters stay, the others become escapes. */
export function quoteGo(text: string, escaped = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu): string {
  return `"${text.replace(escaped, escapeCharacter)}"`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function escapeCharacter(character: string): string {
  const escape = ESCAPES[character];
  if (escape !== undefined) return escape;
  const code = character.codePointAt(0) ?? 0;
  // Half a surrogate pair is no character; Go would hold the replacement character in its place.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
