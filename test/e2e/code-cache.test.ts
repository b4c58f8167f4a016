import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
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

  const folderOf = (command: string): string => ground.path(command, '.compiled');

  /** The built command at a place of its own, with nothing kept. */
  async function install(command: string): Promise<void> {
    await cp('dist', ground.path(command), { recursive: true, filter: (file) => path.basename(file) !== '.compiled' });
  }

  /** A check by the command of this place: gives the files that are kept beside it afterwards. */
  async function validate(command: string, more: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
    const args = [ground.path(command, 'cli.js'), 'validate', ground.path('WORKFLOW.md')];
    const env = { PATH: process.env['PATH'], ...more };
    expect(await promisify(execFile)(process.execPath, args, { env })).toEqual({ stdout: '', stderr: '' });
    return readdir(folderOf(command)).catch(() => []);
  }

  it('is for its owner alone, used again, and made anew where it was spoilt', async () => {
    await install('own');
    const [file = '', ...others] = await validate('own');
    expect(others).toEqual([]);
    expect((await stat(folderOf('own'))).mode & 0o777).toBe(0o700);
    const place = path.join(folderOf('own'), file);
    const { mode, mtimeMs, size } = await stat(place);
    expect(mode & 0o777).toBe(0o600);
    expect(await validate('own')).toEqual([file]);
    expect((await stat(place)).mtimeMs).toBe(mtimeMs);
    await writeFile(place, (await readFile(place)).subarray(0, 100));
    expect(await validate('own')).toEqual([file]);
    expect((await stat(place)).size).toBeGreaterThan(size / 2);
  });

  it('is made anew where its list of parts is spoilt', async () => {
    await install('spoilt');
    const [file = ''] = await validate('spoilt');
    const place = path.join(folderOf('spoilt'), file);
    const good = await readFile(place);
    const index = good.toString('latin1', 4, 4 + good.readUInt32LE(0));
    // As long as before, and no length is a number any more.
    const bad = index.replaceAll(/,(\d+)\]/g, (_, digits: string) => `,"${digits.slice(2)}"]`);
    expect(bad).toHaveLength(index.length);
    await writeFile(place, Buffer.concat([good.subarray(0, 4), Buffer.from(bad, 'latin1'), good.subarray(4 + index.length)]));
    expect(await validate('spoilt')).toEqual([file]);
    expect((await readFile(place)).equals(good)).toBe(false);
    expect((await stat(place)).size).toBeGreaterThan(good.length / 2);
  });

  it('is neither read nor written where others may write, nor where it is not wanted', async () => {
    await install('other');
    expect(await validate('other', { NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual([]);
    await mkdir(folderOf('other'));
    await chmod(folderOf('other'), 0o777);
    expect(await validate('other')).toEqual([]);
  });
});
