import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/support/processor-time.ts';
import { kindOf as acpKind, complaintOf, rpcError } from '../acp/classify.ts';
import { classify, whyLost } from '../claude-code/classify.ts';
import { kindOfText, turnErrorOf, createAccountLimits } from '../codex/classify.ts';
import { JsonRpcError } from '../../lib/json-rpc/index.ts';
import { openQuestion } from './open-question.ts';
import { resetTimeIn } from './reset-time.ts';

const LENGTH = 100_000;
const PARTS = [
  '1',
  ' ',
  '\n',
  '\r\n',
  'a',
  '?',
  '? ',
  'version ',
  'retry in 1a ',
  'resets in 1 ',
  '1 s ',
  'limit ',
  'hit your ',
  'violates our ',
  'api key ',
  'no api key',
  '\u001b[',
  '"',
  '{',
  'retry after ',
  'project ',
];

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'the kind of an ACP error': (text) => acpKind(complaintOf(new JsonRpcError(-32_000, text))),
  'an ACP error': (text) => rpcError(new JsonRpcError(-32_000, text), { what: 'x', now: 0, otherwise: 'turn_failed' } as never),
  'a result of Claude Code': (text) => classify({ text, status: null } as never),
  'a lost conversation of Claude Code': whyLost,
  'an error of Codex': (text) => [kindOfText(text), turnErrorOf({ message: text } as never, createAccountLimits(), 0)],
  'an open question': openQuestion,
  'the time a limit ends': (text) => resetTimeIn(text, 0),
};

describe.each(Object.entries(READERS))('%s', (_, read) => {
  it.each(PARTS)('is read in a moment out of rows of %j', (part) => {
    const text = part.repeat(LENGTH / part.length);
    for (const each of [text, `resets in ${text}`, `usage limit ${text}x`])
      expect(processorMs(() => read(each))).toBeLessThan(1_000);
  });
});
