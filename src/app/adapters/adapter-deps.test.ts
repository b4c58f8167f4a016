import { expect, it } from 'vitest';
import { settingsWith } from '../../../test/support/settings.ts';
import { agentEnv } from './adapter-deps.ts';

it('agents inherit neither the credentials of the tracker nor what leads to their files', () => {
  const env = {
    PATH: '/bin',
    TRACKER_TOKEN: 'secret',
    TRACKER_TOKEN_FILE: '/run/token',
    CREDENTIALS_DIRECTORY: '/run/all',
    LOG_FILE: 'x',
  };
  const workflow = { settings: settingsWith({}), secretVariables: ['TRACKER_TOKEN'] };
  expect(agentEnv(workflow, env)).toEqual({ PATH: '/bin', LOG_FILE: 'x' });
});
