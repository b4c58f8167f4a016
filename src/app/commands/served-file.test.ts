import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { fileWorkflow } from '../../../test/support/daemon.ts';
import { makeFolder } from '../../../test/support/store/database.ts';
import { processStartTime } from '../../lib/process-identity.ts';
import { putUpSignpost } from '../daemon/signpost.ts';
import { readServedFile } from './served-file.ts';

const SHARED = { dbPath: '/nowhere/foray.db', storeUrl: 'postgres://me:hunter2@db.example/records?sslmode=require' };

function aFile(...keys: readonly string[]) {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const workflow = folder.file('WORKFLOW.md');
  writeFileSync(workflow, fileWorkflow().replace('---\n', ['---', ...keys, ''].join('\n')));
  return { folder, workflow, env: { XDG_STATE_HOME: folder.file('state') } };
}

it('a shared database that the file no longer names is out of reach, which is told with what to do', async () => {
  const { workflow, env } = aFile();
  const takeDown = putUpSignpost(workflow, SHARED, env);
  await expect(readServedFile(workflow, env)).rejects.toThrow(
    `database postgres://db.example/records: the running service (pid ${process.pid}) uses it, but the workflow file names another database since: restart the service, or take the edit of store.url back`,
  );
  takeDown();
  expect(await readServedFile(workflow, env)).toMatchObject({ waits: null });
});

it('a second service that is refused leaves the word of the first one alone', () => {
  const { folder, workflow, env } = aFile();
  putUpSignpost(workflow, SHARED, env);
  const [name = ''] = readdirSync(folder.file('state/foray/services'));
  const file = folder.file(`state/foray/services/${name}`);
  const parent = { pid: process.ppid, processStart: processStartTime(process.ppid) };
  const theirs = JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...parent });
  writeFileSync(file, theirs);
  putUpSignpost(workflow, { dbPath: folder.file('other.db'), storeUrl: null }, env)();
  expect(readFileSync(file, 'utf8')).toBe(theirs);
});

it('what is left for commands is for the eyes of the user alone, without a password', () => {
  const { folder, workflow, env } = aFile();
  putUpSignpost(workflow, SHARED, env);
  const [name = ''] = readdirSync(folder.file('state/foray/services'));
  const file = folder.file(`state/foray/services/${name}`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).not.toContain('hunter2');
});

it('the database that the file names is used where the service has the same', async () => {
  const { folder, workflow, env } = aFile('db_path: own.db');
  putUpSignpost(workflow, { dbPath: folder.file('own.db'), storeUrl: null }, env);
  expect(await readServedFile(workflow, env)).toMatchObject({ waits: null, loaded: { dbPath: folder.file('own.db') } });
});

it.each([[{}], [{ HOME: 'relative' }], [{ HOME: '/proc/nowhere' }]])(
  'where nothing can be left, the file is believed: %j',
  async (env) => {
    const { workflow } = aFile();
    putUpSignpost(workflow, SHARED, env)();
    expect(await readServedFile(workflow, env)).toMatchObject({ waits: null });
  },
);
