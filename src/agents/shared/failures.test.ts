import { expect, it } from 'vitest';
import { AgentError } from '../../domain/model/errors.ts';
import { createMask } from '../../lib/http/index.ts';
import { failedTurn, masked } from './failures.ts';

const SECRET = 'top-secret-word';

it.each(Array.from({ length: SECRET.length }, (_none, at) => at))(
  'shortens what an agent says at great length, and no part of a secret stays at the cut (%i)',
  (at) => {
    const detail = `the cause ${'x'.repeat(950 + at)}${SECRET.repeat(500)} the remedy`;
    const error = new AgentError({ kind: 'turn_failed', detail });
    const mask = createMask([SECRET]);
    const turn = failedTurn(error, mask);
    for (const text of [turn.ok ? '' : turn.fault.message, masked(error, mask).message]) {
      expect(text.length).toBeLessThan(2_100);
      expect(text).toMatch(/the cause x+.* … .*the remedy$/);
      expect(text).not.toContain('secret');
    }
  },
);
