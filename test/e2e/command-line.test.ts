import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI, createPlayground, fileWorkflow, type Playground } from '../support/daemon.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

describe('validate', () => {
  it('is silent on a good file and writes nothing', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([]);
    const before = await readdir(ground.dir);
    expect(await ground.run(['validate', 'WORKFLOW.md'])).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(await readdir(ground.dir)).toEqual(before);
  });

  const FAULTS: readonly (readonly [name: string, file: string, line: RegExp])[] = [
    ['malformed YAML', '---\ntracker: [\n---\nx\n', /^error: workflow\.yaml: .*line \d+, column \d+/m],
    ['front matter that is no map', '---\n- a\n---\nx\n', /^error: workflow\.front_matter: /m],
    ['no closing line', '---\ntracker:\n  kind: file\n', /^error: workflow\.front_matter: /m],
    ['no tracker', '---\nagent:\n  kind: mock\n---\nx\n', /^error: tracker\.kind: /m],
    ['an unknown tracker', fileWorkflow({ tracker: 'kind: nope' }), /^error: tracker\.kind: .*file/m],
    ['an unknown agent', fileWorkflow({ agent: 'kind: nope' }), /^error: agent\.kind: .*mock/m],
    ['a wrong type', fileWorkflow({ agent: 'kind: mock\nmax_turns: many' }), /^error: agent\.max_turns: .*line \d+, column \d+/m],
    ['a number out of range', fileWorkflow({ agent: 'kind: mock\nmax_turns: 0' }), /^error: agent\.max_turns: /m],
    ['a bad port', fileWorkflow({ server: 'port: 70000' }), /^error: server\.port: /m],
    ['a template fault', fileWorkflow({}, 'Hello {{ .issue.nope }}'), /^error: template\.unknown_field: .*line \d+, column \d+/m],
    ['a template that does not parse', fileWorkflow({}, 'Hello {{ if }}'), /^error: template\.parse: .*line \d+, column \d+/m],
    [
      'a colliding handoff state',
      fileWorkflow({ tracker: 'kind: file\nactive_states: [a]\nterminal_states: [b]\nhandoff_state: A' }),
      /^error: tracker\.handoff_state: /m,
    ],
    [
      'an in-progress state that is not active',
      fileWorkflow({ tracker: 'kind: file\nactive_states: [a]\nterminal_states: [b]\nin_progress_state: c' }),
      /^error: tracker\.in_progress_state: /m,
    ],
    ['no path of the file tracker', fileWorkflow({ file: '' }), /^error: file\.path: /m],
  ];

  it.each(FAULTS)('names %s', async (_name, file, line) => {
    await ground.write('WORKFLOW.md', file);
    await ground.writeIssues([]);
    const finished = await ground.run(['validate', 'WORKFLOW.md']);
    expect(finished.code).toBe(1);
    expect(finished.stderr).toMatch(line);
    expect(finished.stderr).not.toContain('    at ');
    expect(existsSync(ground.path('.foray.db'))).toBe(false);
  });

  it('warns of an unknown key with the nearest spelling, and passes', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nmax_turn: 3' }));
    await ground.writeIssues([]);
    const finished = await ground.run(['validate']);
    expect(finished).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: .*agent\.max_turns/) as string });
  });

  it('prints JSON when asked', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nmax_turns: 0' }));
    const finished = await ground.run(['validate', '--format', 'json']);
    expect(finished.code).toBe(1);
    expect(JSON.parse(finished.stdout)).toMatchObject({
      valid: false,
      errors: [{ severity: 'error', check: 'agent.max_turns' }],
    });
  });

  it.each([
    ['a missing file', async () => {}, 'workflow.missing'],
    ['a directory', async (path: string): Promise<void> => mkdir(path), 'workflow.'],
    ['an oversized file', async (path: string) => writeFile(path, 'x'.repeat(3_000_000)), 'workflow.too_large'],
    [
      'a file that is no text',
      async (path: string) => writeFile(path, Buffer.from([0xff, 0xfe, 0x00, 0xd8])),
      'workflow.encoding',
    ],
  ])('names %s', async (_name, make, check) => {
    await make(ground.path('WORKFLOW.md'));
    for (const args of [['validate'], []]) {
      const finished = await ground.run(args);
      expect(finished.code).toBe(1);
      expect(finished.stderr).toContain(`error: ${check}`);
      expect(finished.stderr).not.toContain('    at ');
    }
  });
});

describe('dry run', () => {
  it('beside a busy daemon counts the slots of its sessions, those of their state too', async () => {
    const agent = 'kind: mock\nmax_concurrent_agents: 5\nmax_concurrent_agents_by_state: { todo: 1 }';
    await ground.write('WORKFLOW.md', fileWorkflow({ agent, mock: 'turn_delay_ms: 60000' }));
    await ground.writeIssues([
      { id: '1', identifier: 'A-1', title: 'First', state: 'todo', priority: 1 },
      { id: '2', identifier: 'A-2', title: 'Second', state: 'todo' },
    ]);
    const daemon = await ground.start();
    await daemon.record('turn started');
    const { records } = await ground.run(['--dry-run', 'WORKFLOW.md']);
    const second = records.find((record) => record['issue_identifier'] === 'A-2');
    expect(second).toMatchObject({ would_dispatch: 'false', global_slots_available: '4', state_slots_available: '0' });
    expect(second?.['skip_reason']).toBe('no_state_slot');
    await daemon.stop();
  });

  it('reports every candidate and writes nothing', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nmax_concurrent_agents: 2' }));
    await ground.writeIssues([
      { id: '1', identifier: 'A-1', title: 'First', state: 'todo', priority: 1 },
      { id: '2', identifier: 'A-2', title: 'Second', state: 'todo', blocked_by: [{ id: '1', identifier: 'A-1' }] },
      { id: '3', identifier: 'A-3', title: 'Third', state: 'Todo' },
      { id: '4', identifier: 'A-4', title: 'Fourth', state: 'todo' },
      { id: '5', identifier: 'A-5', title: 'Fifth', state: 'done' },
    ]);
    const before = await ground.read('issues.json');
    const finished = await ground.run(['--dry-run', 'WORKFLOW.md']);
    expect(finished.code).toBe(0);
    const candidates = finished.records.filter((record) => record['msg'] === 'dry run candidate');
    expect(
      candidates.map((record) => [
        record['issue_identifier'],
        record['would_dispatch'],
        record['global_slots_available'],
        record['state_slots_available'],
      ]),
    ).toEqual([
      ['A-1', 'true', '2', '2'],
      ['A-2', 'false', '1', '1'],
      ['A-3', 'true', '1', '1'],
      ['A-4', 'false', '0', '0'],
    ]);
    expect(Object.keys(candidates[0] ?? {})).toEqual(expect.arrayContaining(['issue_id', 'issue_identifier', 'title', 'state']));
    expect(finished.records.at(-1)).toMatchObject({
      candidates_fetched: '4',
      would_dispatch: '2',
      ineligible: '2',
      max_concurrent_agents: '2',
    });
    expect(await ground.read('issues.json')).toBe(before);
    expect(await readdir(ground.dir)).toEqual(['WORKFLOW.md', 'issues.json']);
  });

  it('fails with the reason when the tracker cannot be read', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.write('issues.json', '[{"id": "1",]');
    const finished = await ground.run(['--dry-run']);
    expect(finished.code).toBe(1);
    expect(finished.stderr).toMatch(/tracker_payload_error.*line 1/);
  });
});

describe('usage', () => {
  it.each([
    [['validte'], /^foray: unknown command "validte", did you mean "validate"\?$/m],
    [['init', '--yes'], /--tracker.*--project/],
    [['--port', 'x'], /--port/],
    [['--port', '70000'], /--port/],
    [['--nope'], /--nope/],
    [['--log-level', 'loud'], /--log-level/],
    [['a.md', 'b.md'], /one workflow file/],
    [['unpark'], /identifier/],
    [['--format', 'json'], /--format is for --dry-run/],
    [['validate', '--format', 'xml'], /--format/],
  ])('%j is wrong usage', async (args, message) => {
    const finished = await ground.run(args);
    expect(finished.code).toBe(2);
    expect(finished.stderr).toMatch(message);
  });

  it('prints help and version on standard output', async () => {
    expect(await ground.run(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage:') as string });
    expect(await ground.run(['-V'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^foray \d+\.\d+\.\d+\n$/) as string,
    });
  });

  it.skipIf(!existsSync('/dev/full')).each([['-V'], ['schema']])(
    '%s that cannot be written is a failure, told in a line',
    async (word) => {
      const shell = spawn('sh', ['-c', `"$0" "$1" ${word} > /dev/full`, process.execPath, CLI], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let said = '';
      shell.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const [code] = (await once(shell, 'close')) as [number];
      expect([code, said]).toEqual([1, expect.stringMatching(/^foray: standard output cannot be written: ENOSPC.*\n$/)]);
    },
  );

  it('a reader that has gone does not change the exit code', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: nope' }));
    await ground.writeIssues([]);
    const exitOf = async (...args: readonly string[]) => {
      const child = spawn(process.execPath, [CLI, ...args], { cwd: ground.dir, stdio: ['ignore', 'pipe', 'ignore'] });
      child.stdout.destroy();
      const [code] = (await once(child, 'close')) as [number];
      return code;
    };
    expect(await exitOf('doctor')).toBe(1);
    expect(await exitOf('doctor', '--format', 'json')).toBe(1);
    expect(await exitOf('schema')).toBe(0);
  });

  it('prints the JSON Schema of the front matter', async () => {
    const finished = await ground.run(['schema']);
    expect(finished.code).toBe(0);
    expect(JSON.parse(finished.stdout)).toMatchObject({ properties: { tracker: {}, agent: {}, polling: {} } });
  });

  it('writes JSON records when asked, warnings of the workflow file among them', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ pollling: 'interval_ms: 1' }));
    await ground.writeIssues([]);
    const finished = await ground.run(['--dry-run', '--log-format', 'json']);
    const records = finished.stderr
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(records[0]).toMatchObject({ level: 'INFO', msg: 'dry run starting' });
    const message = expect.stringContaining('pollling') as string;
    expect(records).toContainEqual(expect.objectContaining({ level: 'WARN', msg: 'workflow warning', message }));
  });
});
