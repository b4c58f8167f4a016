import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlayground, workflowText, type Playground } from '../support/daemon.ts';

const WORKFLOW = workflowText({
  tracker: 'kind: file\nactive_states: [todo]\nhandoff_state: review',
  file: 'path: issues.json',
  agent: 'kind: mock',
});

describe('compiled code that is kept for the next start', () => {
  let ground: Playground;
  beforeAll(async () => {
    ground = await createPlayground();
    await ground.write('WORKFLOW.md', WORKFLOW);
    await ground.write('issues.json', '[]');
  });
  afterAll(() => ground.cleanup());

  const folderIn = (cache: string): string => ground.path(cache, 'foray', 'code');

  /** A check with this cache: gives the files that are in it afterwards. */
  async function validate(cache: string, more: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
    const env = { XDG_CACHE_HOME: ground.path(cache), ...more };
    expect(await ground.run(['validate', 'WORKFLOW.md'], { env })).toMatchObject({ code: 0, stdout: '', stderr: '' });
    return readdir(folderIn(cache)).catch(() => []);
  }

  it('is for its owner alone, used again, and made anew where it was spoilt', async () => {
    const [file = '', ...others] = await validate('own');
    expect(others).toEqual([]);
    expect((await stat(folderIn('own'))).mode & 0o777).toBe(0o700);
    const place = path.join(folderIn('own'), file);
    const { mode, mtimeMs, size } = await stat(place);
    expect(mode & 0o777).toBe(0o600);
    expect(await validate('own')).toEqual([file]);
    expect((await stat(place)).mtimeMs).toBe(mtimeMs);
    await writeFile(place, (await readFile(place)).subarray(0, 100));
    expect(await validate('own')).toEqual([file]);
    expect((await stat(place)).size).toBeGreaterThan(size / 2);
  });

  it('is neither read nor written where others may write, nor where it is not wanted', async () => {
    await mkdir(folderIn('shared'), { recursive: true });
    await chmod(folderIn('shared'), 0o777);
    expect(await validate('shared')).toEqual([]);
    expect(await validate('unwanted', { NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual([]);
    await ground.write('a-file', '');
    expect(await validate('a-file')).toEqual([]);
  });
});
