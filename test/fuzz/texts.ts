import { createEventStream } from '../../src/agents/shared/event-stream.ts';
import { createMask } from '../../src/lib/http/index.ts';
import { createExcerpt } from '../../src/lib/process/index.ts';
import { shownTitle } from '../../src/lib/short-text.ts';
import { logTail } from '../../src/providers/shared/log-excerpt.ts';
import type { Chance } from '../support/random.ts';
import { createEventCheck, refuseSecrets } from './agent-events.ts';
import { mutateText } from './mutate.ts';
import { digestOf, type Target } from './target.ts';

/** One of them begins with what is an escape itself. */
const SECRETS = ['secret-token-1', 'pa\\ss"w/örd+1', '\\\\back-slashes'];
const MASK = createMask(SECRETS);

const TEXT = `I ran it: \u001b[31mfailed\u001b[0m\r\n${SECRETS.join(' and ')}\nas https://ann:pass@forge.test/x has it %73ecret 💥\n`;

/** What texts are made of that were read, cut and joined somewhere before. */
const ODD = [
  '\ufffd',
  '\ud83d',
  '\udca5',
  '\\',
  '\r',
  '\r\n',
  '\n',
  ' ',
  '\u00a0',
  '\u200b',
  '\u001b',
  '\u001b[',
  '\u001b]',
  '%25',
  '&amp;',
  '\\u005c',
  '\\n',
  '@',
  '://',
  'a://',
  '"',
  '\0',
  '💥',
  'é',
  'x',
  's',
  ...SECRETS,
  ...SECRETS.map((secret) => secret.slice(0, -2)),
] as const;

/** Rare: what takes long with the square of its length shows only in a long one, and each takes its time. */
const LONG_ROWS = 0.002;
const LONGEST_ROW = 150_000;

function row(chance: Chance): string {
  const part = chance.pick(ODD);
  const length = chance.happens(LONG_ROWS) ? LONGEST_ROW : 1 + chance.below(chance.happens(0.05) ? 9_000 : 40);
  return part.repeat(Math.ceil(length / part.length));
}

export const texts: Target = {
  name: 'texts of agents and logs',
  make(chance) {
    let text = chance.happens(0.7) ? mutateText(TEXT, chance) : '';
    for (let rows = chance.below(3) + (text === '' ? 1 : 0); rows > 0; rows -= 1) {
      const at = chance.below(text.length + 1);
      text = text.slice(0, at) + row(chance) + text.slice(at);
    }
    return text;
  },
  take(input) {
    stream(input);
    for (const cut of [null, 'start', 'end'] as const) refuseSecrets(MASK(input, cut), SECRETS);
    const lines = logTail(MASK(input), 50).split('\n');
    if (lines.length > 50 || lines.some((line) => line.length > 4_096)) throw new Error('a longer excerpt');
    excerpt(Buffer.from(input));
    if (shownTitle(input).length > 500) throw new Error('a longer title');
  },
};

/** As a message, as one in two pieces, and as what is told of a tool. */
function stream(input: string): void {
  const check = createEventCheck(SECRETS);
  const events = createEventStream({ onEvent: check.see, mask: MASK, aliveMs: 60_000 });
  const at = digestOf(input) % (input.length + 1);
  events.message(input);
  events.messagePart(input.slice(0, at));
  events.messagePart(input.slice(at));
  events.endMessage();
  events.notice(input);
  events.toolStarted({ id: 'a', name: input, input: { command: input } });
  events.toolEnded({ id: 'a', ok: true, output: [{ text: input }] });
  events.toolStarted({ id: input, name: 'Bash', input: [input, { other: input }] });
  events.close();
  check.end();
}

/** What a hook printed, in chunks that end anywhere. */
function excerpt(bytes: Buffer): void {
  const kept = createExcerpt({ headBytes: 2_048, tailBytes: 2_048 });
  for (let at = 0; at < bytes.length; at += 1_021) kept.add(bytes.subarray(at, at + 1_021));
  const text = kept.text(MASK);
  refuseSecrets(text, SECRETS);
  // A replaced secret may be longer than it was.
  if (text.length > 3 * 4_096) throw new Error('a longer excerpt');
}
