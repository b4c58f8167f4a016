import { expect, it } from 'vitest';
import { nearestWord } from './nearest-word.ts';

const KNOWN = ['max_turns', 'max_tokens', 'kind', 'command', 'on_failure'];

it.each([
  ['max_turn', 'max_turns'],
  ['maxturns', 'max_turns'],
  ['max-turns', 'max_turns'],
  ['MAX_TURNS', 'max_turns'],
  ['max_trun', 'max_turns'],
  ['knid', 'kind'],
  ['comand', 'command'],
  ['on_fail', 'on_failure'],
  ['on', null],
  ['x', null],
  ['', null],
  ['project', null],
])('%s means %s', (word, meant) => {
  expect(nearestWord(word, KNOWN)).toBe(meant);
});

it('the first part of a name of several is enough, misspelt too', () => {
  expect(nearestWord('cluade', ['acp', 'claude-code', 'codex', 'mock'])).toBe('claude-code');
  expect(nearestWord('clue', ['claude-code'])).toBeNull();
});
