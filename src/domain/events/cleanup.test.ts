import { expect, it } from 'vitest';
import { createPlayer } from '../../../test/support/core.ts';
import type { Fault } from '../model/fault.ts';
import type { NoticeName } from '../model/notice.ts';

it.each<[name: NoticeName, fault: Fault]>([
  [
    'cleanup:root:failed',
    { kind: 'workspace_error', message: "workspace: list: ENOTDIR, scandir '/ws'", consequence: 'back-off' },
  ],
  ['cleanup:read:failed', { kind: 'tracker_api_error', message: 'status 500', consequence: 'back-off' }],
])('a cleanup at start that fails says what could not be read: %s', (name, fault) => {
  const play = createPlayer();
  play.after(0);
  expect(play.asked('read-terminal')).toHaveLength(1);
  play.send({ type: 'cleanup-answered', issues: { ok: false, fault } });
  expect(play.effects.flatMap((effect) => (effect.do === 'announce' ? [effect.notice] : []))).toEqual([
    { name, facts: { error: fault.message, retryInMs: 60_000 } },
  ]);
});
