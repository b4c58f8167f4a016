import { expect, it } from 'vitest';
import { issueWith } from '../../test/support/issues.ts';
import { createPrompt } from './prompt.ts';

const input = {
  issue: issueWith({ id: '1', identifier: 'A-1' }),
  attempt: 0,
  run: { turnNumber: 1, maxTurns: 3 },
  reaction: null,
  hasTools: false,
};

it('the first prompt of a run says how to end the work, by a file or by a tool, unless that is switched off', () => {
  const on = createPrompt('Do {{ .issue.identifier }}.', 1, { instructions: true });
  expect(on(input)).toMatch(/^Do A-1\.\n\nWhen the work is over .*`\.foray\/status`/);
  expect(on({ ...input, hasTools: true })).toMatch(/^Do A-1\.\n\nYou have tools .*finish/s);
  const off = createPrompt('Do {{ .issue.identifier }}.', 1, { instructions: false });
  expect(off(input)).toBe('Do A-1.\n');
  expect(off({ ...input, hasTools: true })).toBe('Do A-1.\n');
});
