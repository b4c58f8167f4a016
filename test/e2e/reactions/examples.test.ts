import { cp, readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlayground, type Playground } from '../../support/daemon.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url));
const DUMMIES = {
  GITHUB_TOKEN: 'dummy',
  GITLAB_TOKEN: 'dummy',
  GITEA_TOKEN: 'dummy',
  JIRA_TOKEN: 'dummy',
  LINEAR_API_KEY: 'lin_api_dummy',
};
const NAMES = ['file', 'gitea', 'github', 'gitlab', 'jira', 'linear'];

let ground: Playground;
beforeAll(async () => {
  ground = await createPlayground();
  await cp(EXAMPLES, ground.path('examples'), { recursive: true });
});
afterAll(() => ground.cleanup());

describe('examples', () => {
  it('there is one for every tracker, and nothing else', async () => {
    expect(await readdir(EXAMPLES)).toEqual([...NAMES.map((name) => `${name}.WORKFLOW.md`), 'hooks', 'issues.json'].toSorted());
  });

  it.each(NAMES)('%s.WORKFLOW.md is valid without a warning', async (name) => {
    const finished = await ground.run(['validate', `examples/${name}.WORKFLOW.md`], { env: DUMMIES });
    expect(finished).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it.each(NAMES)('%s.WORKFLOW.md says which variables it needs', async (name) => {
    const text = await readFile(`${EXAMPLES}/${name}.WORKFLOW.md`, 'utf8');
    const [comment = ''] = text.split('tracker:');
    for (const [, variable = ''] of text.matchAll(/\$([A-Z_]+)/g)) expect(comment).toContain(variable);
  });

  it.each(NAMES)('%s.WORKFLOW.md uses only scripts that exist', async (name) => {
    const text = await readFile(`${EXAMPLES}/${name}.WORKFLOW.md`, 'utf8');
    const scripts = await readdir(`${EXAMPLES}/hooks`);
    for (const [, script = ''] of text.matchAll(/~\/\.config\/foray\/(\S+\.sh)/g)) expect(scripts).toContain(script);
  });
});
