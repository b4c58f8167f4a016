import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlayground, type Playground } from '../support/daemon.ts';
import { buildStage, KINDS, type Stage } from './trackers/stage.ts';
import { TOKEN_VARIABLE } from './trackers/stages/parts.ts';

let ground: Playground;
let stage: Stage;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(async () => {
  await stage.close();
  await ground.cleanup();
});

/** What a person would type, from what the stage's own workflow file says. */
function initArgs({ kind, sections, states }: Stage): readonly string[] {
  const value = (key: string): string | null => new RegExp(`^${key}: (.*)$`, 'm').exec(sections['tracker'] ?? '')?.[1] ?? null;
  const project = kind === 'file' ? (/^path: (.*)$/m.exec(sections['file'] ?? '')?.[1] ?? '') : (value('project') ?? '');
  const endpoint = value('endpoint');
  return [
    'init',
    '--tracker',
    kind,
    '--project',
    project,
    '--agent',
    'mock',
    ...(endpoint === null ? [] : ['--endpoint', endpoint]),
    ...(kind === 'file' ? [] : ['--token-env', TOKEN_VARIABLE]),
    '--active',
    `${states.todo},${states.doing}`,
    '--terminal',
    states.done,
    '--handoff',
    states.handoff,
    '--yes',
  ];
}

describe('a newcomer, nothing edited by hand', () => {
  it.each(KINDS)('%s: init, validate, doctor, dry run, run, handoff', async (kind) => {
    stage = await buildStage(kind, ground);
    const { id, identifier } = await stage.add({ title: 'First steps', state: stage.states.todo });
    const options = { env: stage.env };
    const made = await ground.run(initArgs(stage), options);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const file = await ground.read('WORKFLOW.md');
    for (const secret of Object.values(stage.env)) expect(file).not.toContain(secret);
    expect(await ground.run(initArgs(stage), options)).toMatchObject({ code: 1 });
    expect(await ground.read('WORKFLOW.md')).toBe(file);

    const checked = await ground.run(['validate'], options);
    expect(checked, checked.stderr).toMatchObject({ code: 0 });
    const examined = JSON.parse((await ground.run(['doctor', '--format', 'json'], options)).stdout) as {
      findings: { check: string; status: string; message: string }[];
    };
    const errors = examined.findings.filter(({ check, status }) => status === 'error' && check !== 'server.port');
    expect(errors).toEqual([]);
    expect(examined.findings).toContainEqual(expect.objectContaining({ check: 'tracker.access', status: 'ok' }));
    const dry = await ground.run(['--dry-run', '--format', 'json'], options);
    expect(JSON.parse(dry.stdout)).toMatchObject({ would_dispatch: 1, candidates: [{ issue_identifier: identifier }] });
    expect(await ground.run(['explain', identifier], options)).toMatchObject({ code: 0 });

    const daemon = await ground.start(['--port', '0'], options);
    await daemon.record('handoff transition succeeded, releasing claim');
    expect(await stage.stateOf(id)).toBe(stage.states.handoff);
    const logs = await ground.run(['logs', identifier], options);
    expect(logs).toMatchObject({ code: 0, stdout: expect.stringContaining('succeeded') as string });
    await daemon.stop();
    expect((await ground.run(['stats', '--by', 'issue'], options)).stdout).toContain(identifier);
  });

  it.each(KINDS.filter((kind) => kind !== 'file'))('%s: a wrong token is refused and nothing is written', async (kind) => {
    stage = await buildStage(kind, ground);
    const refused = await ground.run(initArgs(stage), { env: { [TOKEN_VARIABLE]: 'someone@example.com:wrong-token' } });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('tracker_auth_error');
    await expect(ground.read('WORKFLOW.md')).rejects.toThrow('ENOENT');
  });
});
