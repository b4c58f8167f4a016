import { stripVTControlCharacters } from 'node:util';
import type { Mask } from '../../lib/http/index.ts';
import { copyOf, shortText } from '../../lib/short-text.ts';
import { isBlank } from './blank.ts';
import { jsonText } from './json.ts';

/** The bounds that `AgentEvent` promises. */
const LONGEST_INPUT = 500;
const LONGEST_OUTPUT = 2_000;
/** Longer than what is looked at of an input, so that it is still seen to be cut. */
const LONGEST_KEPT = 2 * LONGEST_INPUT + 2;
const MOST_LINES = 20;

/** Fields that say what a tool was called with, by what they are called in the tools of the agents; the first wins. */
const TELLING = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'notebook_path',
  'absolute_path',
  'path',
  'pattern',
  'query',
  'url',
  'text',
  'description',
  'prompt',
] as const;

/** What a tool was called with, on one line: the command, the file, the query, else all of it as JSON. */
export function inputLine(input: unknown, mask: Mask): string {
  const line = maskedStart(tellingPart(input), 2 * LONGEST_INPUT, mask)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return copyOf(line.length > LONGEST_INPUT ? `${wholeStart(line, LONGEST_INPUT - 1)}…` : line);
}

/** As much of an input as makes the same line later. All of it may be whole files. */
export function keptInput(input: unknown): string | undefined {
  if (input === undefined) return undefined;
  const text = tellingPart(input);
  return text.length <= LONGEST_KEPT ? text : copyOf(shortText(text, LONGEST_KEPT));
}

/** The last lines of what a tool gave back. */
export function outputLines(output: unknown, mask: Mask): string {
  const text = maskedEnd(textIn(output), 2 * LONGEST_OUTPUT, mask).trimEnd();
  const lines = text.split(/\r?\n/).slice(-MOST_LINES).join('\n');
  if (isBlank(lines)) return '';
  return copyOf(lines.length > LONGEST_OUTPUT ? `…${lines.slice(-(LONGEST_OUTPUT - 1))}` : lines);
}

/* A colour inside of a secret hides it, and so does a cut. So colours go first, then secrets, and then what is too long. */

/** The beginning of a text, without colours and secrets. */
export function maskedStart(text: string, length: number, mask: Mask): string {
  return mask(stripVTControlCharacters(text.slice(0, length)), text.length > length ? 'end' : null);
}

/** The longest way to begin a colour; cut in two, its end would pass for text. */
const LONGEST_COLOUR = 64;

function maskedEnd(text: string, length: number, mask: Mask): string {
  if (text.length <= length) return mask(stripVTControlCharacters(text));
  const before = text.slice(-length - LONGEST_COLOUR, -length).lastIndexOf('\u001b');
  const end = text.slice(-length - (before === -1 ? 0 : LONGEST_COLOUR - before));
  return mask(stripVTControlCharacters(end), 'start');
}

function tellingPart(input: unknown): string {
  if (typeof input === 'string') return input;
  if (Array.isArray(input)) return input.every((part) => typeof part === 'string') ? input.join(' ') : jsonText(input);
  if (typeof input !== 'object' || input === null) return '';
  const fields = input as Readonly<Record<string, unknown>>;
  for (const name of TELLING) {
    const value = fields[name];
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (Array.isArray(value) && value.length > 0) return tellingPart(value);
  }
  return Object.keys(fields).length === 0 ? '' : jsonText(fields);
}

/** No result has its text further in. */
const MOST_LEVELS = 100;

/** The text in a result: a string, a list of parts with a text, or an object with one. */
function textIn(output: unknown, levels = MOST_LEVELS): string {
  if (typeof output === 'string') return output;
  if (levels === 0) return '';
  if (Array.isArray(output))
    return output
      .map((part) => textIn(part, levels - 1))
      .filter((text) => text !== '')
      .join('\n');
  if (typeof output !== 'object' || output === null) return '';
  const { text, content, output: inner, stdout, message } = output as Readonly<Record<string, unknown>>;
  return textIn(text ?? content ?? inner ?? stdout ?? message ?? '', levels - 1);
}

function wholeStart(text: string, length: number): string {
  const cut = text.slice(0, length);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
