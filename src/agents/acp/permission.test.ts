import { describe, expect, it } from 'vitest';
import { PERMISSION_POLICIES } from './options.ts';
import { ANSWERS, choosePermission } from './listener.ts';

const KINDS = ['allow_always', 'allow_once', 'reject_always', 'reject_once'];
const offer = (kinds: readonly string[]) => ({ options: kinds.map((kind) => ({ kind, optionId: `id of ${kind}` })) });

describe('choosePermission', () => {
  it.each(PERMISSION_POLICIES.flatMap((policy) => ANSWERS[policy].map((kind, index) => ({ policy, kind, index }))))(
    '$policy chooses $kind when nothing better is offered',
    ({ policy, kind, index }) => {
      const better = ANSWERS[policy].slice(0, index);
      expect(choosePermission(policy, offer(KINDS.filter((one) => !better.includes(one))))).toBe(`id of ${kind}`);
    },
  );

  it.each([
    ['allow', ['reject_once', 'reject_always', 'other']],
    ['deny', ['allow_once', 'allow_always', 'other']],
    ['allow', []],
  ] as const)('%s chooses nothing among %j', (policy, kinds) => {
    expect(choosePermission(policy, offer(kinds))).toBeNull();
  });
});
