import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { describe, expect, it, type TestContext } from 'vitest';
import { createPlayground, TOOL_PATH, type Playground } from '../../support/daemon.ts';
import { json, type RecordedRequest } from '../../support/http-server.ts';
import { buildForge, FORGE_KINDS, scriptFile, writeToken, type Forge } from './forge.ts';
import { createOrigin, type Origin } from './origin.ts';

const TITLE = `It's "quoted" $(touch pwned) \`touch pwned\` \\ ${'ü'.repeat(300)}`;

/** A workspace as `git clone` left it, and the scripts run in it as hooks are. */
interface HookStage {
  readonly ground: Playground;
  readonly forge: Forge;
  readonly origin: Origin;
  prepare(): Promise<Ended>;
  open(...args: string[]): Promise<Ended>;
  commit(name: string): Promise<string>;
  /** What the reactions will read; null when there is none. */
  scm(): Promise<Record<string, unknown> | null>;
  /** Requests that would open a merge request. */
  opened(): readonly RecordedRequest[];
}

interface Ended {
  readonly code: number;
  readonly output: string;
}

async function openHookStage(kind: string, { onTestFinished }: TestContext): Promise<HookStage> {
  const ground = await createPlayground();
  const forge = await buildForge(kind);
  onTestFinished(async () => {
    await ground.cleanup();
    await forge.close();
  });
  const origin = await createOrigin(ground, forge.front.url);
  await origin.git('.', 'clone', '--quiet', 'origin.git', 'ABC-1');
  await writeToken(forge, ground);
  const env = {
    PATH: `${ground.path('bin')}:${TOOL_PATH}`,
    HOME: ground.dir,
    FORAY_ISSUE_ID: '1',
    FORAY_ISSUE_IDENTIFIER: 'ABC-1',
    FORAY_ISSUE_TITLE: TITLE,
    FORAY_WORKSPACE: ground.path('ABC-1'),
    FORAY_ATTEMPT: '0',
  };
  const run = (script: string, args: readonly string[]): Promise<Ended> =>
    new Promise((resolve) => {
      execFile('sh', [scriptFile(script), ...args], { cwd: ground.path('ABC-1'), env }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, output: `${stdout}${stderr}` }),
      );
    });
  const list = forge.front.requests;
  return {
    ground,
    forge,
    origin,
    prepare: () => run('prepare-branch.sh', []),
    open: (...args) => run(forge.script.name, args.length > 0 ? args : [forge.front.url, forge.project]),
    async commit(name) {
      await appendFile(ground.path('ABC-1', name), 'work\n');
      await origin.git('ABC-1', 'add', '.');
      await origin.git('ABC-1', 'commit', '--quiet', '--message', name);
      return origin.git('ABC-1', 'rev-parse', 'HEAD');
    },
    scm: async () => {
      const file = ground.path('ABC-1', '.foray', 'scm.json');
      return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>) : null;
    },
    opened: () => list.filter(({ method, path }) => method === 'POST' && /\/(pulls|merge_requests)$/.test(path)),
  };
}

describe.each(FORGE_KINDS)('the script for %s', { timeout: 60_000 }, (kind) => {
  it('pushes and opens, then only pushes, whatever the title is', async (test) => {
    const stage = await openHookStage(kind, test);
    const { forge, origin } = stage;
    expect(await stage.prepare()).toEqual({ code: 0, output: '' });
    const first = await stage.commit('one');
    expect(await stage.open()).toEqual({ code: 0, output: '' });
    const at = forge.project.lastIndexOf('/');
    const [owner, repo] = [forge.project.slice(0, at), forge.project.slice(at + 1)];
    const record = { branch: 'foray/ABC-1', pr_number: forge.number(), owner, repo };
    expect(await stage.scm()).toEqual({
      ...record,
      sha: first,
      pushed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
    });
    expect(stage.opened()[0]?.json()).toMatchObject({ title: TITLE.slice(0, 255) });
    expect(JSON.stringify(stage.opened()[0]?.json())).not.toMatch(/clos|fix|resolv/i);

    await stage.prepare();
    const second = await stage.commit('two');
    expect(await stage.open(`${forge.front.url}/`, forge.project, 'main')).toEqual({ code: 0, output: '' });
    expect(await stage.scm()).toMatchObject({ ...record, sha: second });
    expect(await origin.git('origin.git', 'rev-parse', 'foray/ABC-1')).toBe(second);
    expect(forge.head()).toBe(second);
    expect(stage.opened()).toHaveLength(1);
    expect(await origin.git('ABC-1', 'status', '--porcelain')).toBe('');
    expect(existsSync(stage.ground.path('ABC-1', 'pwned'))).toBe(false);
  });

  it('says what the forge answered, leaves no record, and goes on where it was', async (test) => {
    const stage = await openHookStage(kind, test);
    const { forge } = stage;
    await stage.prepare();
    const sha = await stage.commit('one');
    void forge.front.answerNext(isList, json({ message: 'the token has expired' }, 401));
    const refused = await stage.open();
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('the token has expired') as string });
    expect(refused.output).not.toContain(forge.token);
    expect(await stage.scm()).toBeNull();
    expect((await stage.open()).code).toBe(0);
    expect(await stage.scm()).toMatchObject({ sha });
  });

  it('takes no merge request of a fork for its own', async (test) => {
    const stage = await openHookStage(kind, test);
    const { forge } = stage;
    await stage.prepare();
    await stage.commit('one');
    const branch = 'foray/ABC-1';
    const ends = (id: number) => ({ ref: branch, repo: { id }, repo_id: id });
    const theirs = { number: 666, iid: 666, source_branch: branch, source_project_id: 2, target_project_id: 1 };
    void forge.front.answerNext(isList, json([{ ...theirs, head: ends(2), base: { ...ends(1), ref: 'main' } }]));
    expect((await stage.open()).code).toBe(0);
    expect(await stage.scm()).toMatchObject({ pr_number: forge.number() });
    expect(stage.opened()).toHaveLength(1);
  });

  it('shows the token to no list of processes', async (test) => {
    const stage = await openHookStage(kind, test);
    const { ground, forge, origin } = stage;
    await mkdir(ground.path('bin'));
    await writeFile(
      ground.path('bin', 'curl'),
      `#!/bin/sh\nprintf '%s\\n' "$@" >> ${ground.path('seen')}\nPATH=${TOOL_PATH} exec curl "$@"\n`,
    );
    await chmod(ground.path('bin', 'curl'), 0o755);
    await rm(`${origin.path}/hooks/post-receive`);
    await stage.prepare();
    const sha = await stage.commit('one');
    await fetch(`${forge.front.url}/-/pushed`, { method: 'POST', body: `ref=refs/heads/foray/ABC-1&sha=${sha}` });
    expect((await stage.open()).code).toBe(0);
    expect(await ground.read('seen')).toContain(forge.front.url);
    expect(await ground.read('seen')).not.toContain(forge.token);
  });
});

describe('all scripts', { timeout: 60_000 }, () => {
  const KIND = 'nsproject';

  it('do nothing where nothing was committed', async (test) => {
    const stage = await openHookStage(KIND, test);
    await stage.prepare();
    expect(await stage.open()).toEqual({ code: 0, output: '' });
    expect(await stage.scm()).toBeNull();
    expect(stage.forge.front.requests).toEqual([]);
  });

  it('replace their own commits after a rebase, and never those of somebody else', async (test) => {
    const stage = await openHookStage(KIND, test);
    const { origin, forge, ground } = stage;
    await stage.prepare();
    await stage.commit('one');
    await stage.open();
    await origin.git('ABC-1', 'commit', '--quiet', '--amend', '--message', 'one, better');
    const amended = await origin.git('ABC-1', 'rev-parse', 'HEAD');
    expect((await stage.open()).code).toBe(0);
    expect(forge.head()).toBe(amended);

    await origin.git('.', 'clone', '--quiet', '--branch', 'foray/ABC-1', 'origin.git', 'elsewhere');
    await ground.write('elsewhere/theirs', 'x');
    await origin.git('elsewhere', 'add', '.');
    await origin.git('elsewhere', 'commit', '--quiet', '--message', 'theirs');
    await origin.git('elsewhere', 'push', '--quiet');
    const theirs = await origin.git('elsewhere', 'rev-parse', 'HEAD');
    await origin.git('ABC-1', 'commit', '--quiet', '--amend', '--message', 'one, best');
    expect((await stage.open()).code).not.toBe(0);
    expect(await origin.git('origin.git', 'rev-parse', 'foray/ABC-1')).toBe(theirs);
    expect(await stage.scm()).toMatchObject({ sha: amended });
  });

  it('take in what somebody else pushed before the next run', async (test) => {
    const stage = await openHookStage(KIND, test);
    const { origin, ground } = stage;
    await stage.prepare();
    await stage.commit('one');
    await stage.open();
    await origin.git('.', 'clone', '--quiet', '--branch', 'foray/ABC-1', 'origin.git', 'elsewhere');
    await ground.write('elsewhere/theirs', 'x');
    await origin.git('elsewhere', 'add', '.');
    await origin.git('elsewhere', 'commit', '--quiet', '--message', 'theirs');
    await origin.git('elsewhere', 'push', '--quiet');
    expect((await stage.prepare()).code).toBe(0);
    expect(existsSync(ground.path('ABC-1', 'theirs'))).toBe(true);
    const sha = await stage.commit('two');
    expect((await stage.open()).code).toBe(0);
    expect(await stage.scm()).toMatchObject({ sha });
  });

  it('take the token from the git credentials where no file holds one, and say so where there is none', async (test) => {
    const stage = await openHookStage(KIND, test);
    const { ground, forge, origin } = stage;
    await rm(ground.path('.config'), { recursive: true });
    const url = 'https://git.example.org/acme/app.git';
    await origin.git('ABC-1', 'remote', 'set-url', 'origin', url);
    await origin.git('ABC-1', 'config', `url.${origin.path}.pushInsteadOf`, url);
    await origin.git('ABC-1', 'checkout', '--quiet', '-b', 'foray/ABC-1');
    await stage.commit('one');
    expect(await stage.open()).toMatchObject({ code: 1, output: expect.stringContaining('no token') as string });
    const helper = `!f() { echo username=x; echo password=${forge.token}; }; f`;
    await origin.git('ABC-1', 'config', 'credential.helper', helper);
    expect((await stage.open()).code).toBe(0);
    expect(await stage.scm()).toMatchObject({ pr_number: forge.number() });
  });

  it('name what is missing when called without arguments', async (test) => {
    const stage = await openHookStage(KIND, test);
    expect(await stage.open('')).toMatchObject({ code: 2, output: expect.stringContaining('is missing') as string });
  });
});

function isList({ method, path }: RecordedRequest): boolean {
  return method === 'GET' && /\/(pulls|merge_requests)$/.test(path);
}
