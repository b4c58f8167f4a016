import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunningDaemon } from '../support/daemon.ts';
import { expectCost, toldBy } from './figures.ts';
import { startModelApi, type Exchange, type ModelApi } from './model-api.ts';
import type { Program } from './programs.ts';
import { createStage, PATIENCE_MS, runsOf, storyOf, type RunView, type Stage } from './stage.ts';

const HANDED_OFF = 'handoff transition succeeded, releasing claim';

/** What every agent kind promises, held against a real program. */
export function describeProgram(program: Program): void {
  const { name, kind, missing } = program;
  describe.skipIf(missing !== undefined)(`${name} by the kind ${kind}${missing === undefined ? '' : ` (${missing})`}`, () => {
    let api: ModelApi;
    let stage: Stage;
    beforeAll(async () => {
      api = await startModelApi();
    });
    afterAll(() => api.stop());
    beforeEach(async () => {
      stage = await createStage(program, api);
    });
    afterEach(async () => {
      await stage.close();
      // No request that the script does not know, and none beyond the loopback device.
      const reached = (program.reaches ?? []).map((host) => `CONNECT ${host}`);
      expect(api.surprises.splice(0).filter((one) => !reached.includes(one))).toEqual([]);
    });

    it('edits a file in one turn', async () => {
      const daemon = await stage.play('edit');
      await daemon.record(HANDED_OFF);
      expect(await textAt('hello.txt')).toBe('hello');
      expect(await stage.ground.readIssues()).toMatchObject([{ state: 'review' }]);
      const [run] = await runsOf(daemon);
      const { session_id } = await daemon.record('agent session started');
      expect(run).toMatchObject({ status: 'succeeded', turn_count: 1, error: null, session_id });
      expect(run?.model_name ?? null).toBe(program.model);
      await expectSpent(daemon, run);
      const said = await storyOf(daemon, run);
      expect(said.some((line) => line.startsWith('tool_started: ') && line.includes('hello.txt'))).toBe(true);
      await expectQuietEnd(daemon);
    });

    it('takes several turns in one conversation', async () => {
      const daemon = await stage.play('turns', { agent: ['max_turns: 3'] });
      await daemon.record(HANDED_OFF);
      for (const turn of [1, 2, 3]) expect(await textAt(`turn-${turn}.txt`)).toBe(`turn ${turn}`);
      expect(lastExchange().cues.map(({ turn }) => turn)).toEqual([1, 2, 3]);
      const [run, ...others] = await runsOf(daemon);
      expect(others).toEqual([]);
      expect(run).toMatchObject({ status: 'succeeded', turn_count: 3 });
      await expectSpent(daemon, run);
      await expectQuietEnd(daemon);
    });

    it.runIf(program.takesTools)('calls the tools of its issue', async () => {
      const daemon = await stage.play('tools', { agent: ['max_turns: 5'] });
      await daemon.record(HANDED_OFF);
      const [issue] = await stage.ground.readIssues();
      expect(JSON.stringify(issue?.['comments'])).toContain('The cause is found.');
      const [run] = await runsOf(daemon);
      // `finish` ends the run long before its last turn.
      expect(run).toMatchObject({ status: 'succeeded', turn_count: 1 });
      expect(await storyOf(daemon, run)).toContain('notice: tool comment: The cause is found.');
      await expectQuietEnd(daemon);
    });

    it.runIf(program.takesTools)('hands the issue over when the agent moves it, after its turn', async () => {
      const daemon = await stage.play('moves', { agent: ['max_turns: 5'] });
      await daemon.record(HANDED_OFF);
      expect(await textAt('moved.txt')).toBe('moved');
      expect(await stage.ground.readIssues()).toMatchObject([{ state: 'review' }]);
      expect(await runsOf(daemon)).toMatchObject([{ status: 'succeeded', turn_count: 1, error: null }]);
      await expectQuietEnd(daemon);
    });

    it('calls tools in parallel', async () => {
      const daemon = await stage.play('parallel');
      await daemon.record(HANDED_OFF);
      expect([await textAt('a.txt'), await textAt('b.txt')]).toEqual(['a', 'b']);
      const [run] = await runsOf(daemon);
      await expectSpent(daemon, run);
      await expectQuietEnd(daemon);
    });

    it.skipIf(program.isBrief)('parks an issue on which the agent only asked a question', async () => {
      const daemon = await stage.play('question');
      await daemon.record('issue parked until a person acts');
      expect(await daemon.json('/api/v2/parked')).toMatchObject({ parked: [{ reason: 'needs_person' }] });
      await expectQuietEnd(daemon);
    });

    it.skipIf(program.isBrief)('takes a long answer for a sign of life', async () => {
      const daemon = await stage.play('slow', { agent: ['max_turns: 1', `stall_timeout_ms: ${program.stallMs}`] });
      await daemon.record(HANDED_OFF);
      expect(await runsOf(daemon)).toMatchObject([{ status: 'succeeded' }]);
      await expectQuietEnd(daemon);
    });

    it.skipIf(program.isBrief)('stops a session over its budget', async () => {
      const daemon = await stage.play('endless', { agent: ['max_turns: 1', 'max_tokens: 6000'] });
      await daemon.record('issue parked until a person acts');
      expect(await daemon.json('/api/v2/parked')).toMatchObject({ parked: [{ reason: 'token_budget' }] });
      const asked = api.exchanges(stage.workspace).length;
      if (program.tellsLiveTokens) expect(asked).toBeLessThan(10);
      await expectQuietEnd(daemon);
    });

    it.skipIf(program.isBrief)('tells that its agent was killed, and tries again', async () => {
      const daemon = await stage.play('silent');
      await untilHanging();
      for (const pid of await stage.processes()) process.kill(Number(pid), 'SIGKILL');
      await daemon.record('retry scheduled');
      expect((await retryOf(daemon)).error).toContain('agent_exited');
      await expectQuietEnd(daemon);
    });

    it.skipIf(program.isBrief)('works on two issues at once, also in a fresh home', async () => {
      const daemon = await stage.playAll(['edit', 'edit']);
      await expect
        .poll(() => stage.ground.readIssues(), { timeout: PATIENCE_MS })
        .toMatchObject([{ state: 'review' }, { state: 'review' }]);
      const { runs } = (await daemon.json('/api/v2/runs')) as { runs: RunView[] };
      expect(runs.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
      await expectQuietEnd(daemon);
    });

    it.runIf(program.asks)('never takes a refused permission for work', async () => {
      const daemon = await stage.play('refused', { options: program.denying });
      await daemon.record('issue parked until a person acts');
      expect(existsSync(path.join(stage.workspace, 'hello.txt'))).toBe(false);
      expect(await stage.ground.readIssues()).toMatchObject([{ state: 'todo' }]);
      const error = expect.stringContaining('agent: agent_needs_person: ') as string;
      expect(await runsOf(daemon)).toMatchObject([{ status: 'failed', error }]);
      expect(await daemon.json('/api/v2/parked')).toMatchObject({ parked: [{ reason: 'needs_person', detail: error }] });
      await expectQuietEnd(daemon);
    });

    it.skipIf(program.isBrief).each([
      ['401', 'unauthorized', 'agent_not_logged_in'],
      ['429', 'limited', 'agent_usage_limit'],
      ['500', 'broken', 'turn_failed'],
    ] as const)('knows the failure when the model answers %s', async (_status, scenario, kind) => {
      const daemon = await stage.play(scenario);
      await daemon.record('retry scheduled');
      const { error, due_at } = await retryOf(daemon);
      expect(error).toContain(`agent: ${kind}: `);
      expect(await runsOf(daemon)).toMatchObject([{ status: 'failed', error }]);
      expect(await stage.ground.readIssues()).toMatchObject([{ state: 'todo' }]);
      const pause = { agent_kind: program.kind, until: due_at, reason: error };
      const { agent_pauses: pauses } = await daemon.json('/api/v2/holds');
      expect(pauses).toEqual(kind === 'agent_usage_limit' ? [pause] : []);
      await expectQuietEnd(daemon);
    });

    it.skipIf(program.isBrief)('rests for a minute at most when the model only asks to slow down', async () => {
      const daemon = await stage.play('hurried');
      await daemon.record('retry scheduled');
      const { error, due_at } = await retryOf(daemon);
      expect(error).toContain('agent: agent_usage_limit: ');
      expect(Date.parse(due_at) - Date.now()).toBeLessThan(61_000);
      await expectQuietEnd(daemon);
    });

    it.skipIf(program.isBrief)('stops a turn that hangs', async () => {
      const daemon = await stage.play('silent', { agent: ['max_turns: 1', `stall_timeout_ms: ${program.stallMs}`] });
      await daemon.record('retry scheduled');
      expect((await retryOf(daemon)).error).toContain('turn_stalled');
      expect(lastExchange().cues).toMatchObject([{ scenario: 'silent' }]);
      expect(await stage.processes()).toEqual([]);
      await expectQuietEnd(daemon);
    });

    it('fails when its workspace is taken away under it, whatever it says, and is tried again', async () => {
      const daemon = await stage.play('slow', { agent: ['max_turns: 1', 'max_retry_backoff_ms: 200'] });
      const written = (): boolean => existsSync(path.join(stage.workspace, 'slow.txt'));
      await expect.poll(written, { timeout: PATIENCE_MS }).toBe(true);
      await rm(stage.workspace, { recursive: true });
      await daemon.record('retry scheduled');
      expect(daemon.records().some(({ msg }) => msg === HANDED_OFF)).toBe(false);
      await daemon.record(HANDED_OFF);
      expect(await textAt('slow.txt')).toBe('slow');
      expect(await runsOf(daemon)).toMatchObject([{ status: 'failed' }, { status: 'succeeded' }]);
      await expectQuietEnd(daemon);
    });

    it('drains on SIGTERM in mid-turn, and goes on with the same conversation after a restart', async () => {
      const first = await stage.play('interrupted', { agent: ['max_turns: 2'] });
      await untilHanging();
      const { running } = (await first.json('/api/v1/state')) as { running: { session_id: string }[] };
      const session_id = running[0]?.session_id;
      expect(await stage.processes()).not.toEqual([]);
      first.signal('SIGTERM');
      expect(await first.exited).toMatchObject({ code: 0 });
      expect(await stage.processes()).toEqual([]);

      const second = await stage.restart();
      await second.record(HANDED_OFF);
      expect(await textAt('before.txt')).toBe('before the restart');
      expect(await textAt('after.txt')).toBe('after the restart');
      const runs = await runsOf(second);
      expect(runs).toMatchObject([
        { status: 'interrupted', session_id },
        { status: 'succeeded', session_id },
      ]);
      // Gemini CLI takes back the turn in which it was interrupted, but not the one before.
      expect(lastExchange().cues[0]).toMatchObject({ attempt: 0, turn: 1 });
      expect(lastExchange().cues.at(-1)).toMatchObject({ attempt: 1, turn: 2 });
      await expectSpent(second, runs[1], 1);
      await expectQuietEnd(second);
    });

    function textAt(file: string): Promise<string> {
      return readFile(path.join(stage.workspace, file), 'utf8');
    }

    function lastExchange(): Exchange {
      return api.exchanges(stage.workspace).at(-1) ?? expect.fail('the model was never asked');
    }

    async function untilHanging(): Promise<void> {
      const isHanging = (): boolean => api.exchanges(stage.workspace).at(-1)?.figures === null;
      await expect.poll(isHanging, { timeout: PATIENCE_MS }).toBe(true);
    }

    /** Every answer of the model in this attempt is counted, and none twice, as far as the program tells. */
    async function expectSpent(daemon: RunningDaemon, run: RunView | undefined, attempt = 0): Promise<void> {
      const asked = api.exchanges(stage.workspace).filter(({ cues }) => cues.at(-1)?.attempt === attempt);
      const told = toldBy(program, asked);
      expect(told.total_tokens).toBeGreaterThan(0);
      expect(run?.tokens).toEqual(told);
      expect((await daemon.json('/api/v1/state'))['agent_totals']).toMatchObject(told);
      expectCost(program, asked, run?.cost_usd ?? null);
    }

    async function expectQuietEnd(daemon: RunningDaemon): Promise<void> {
      expect(await daemon.stop()).toMatchObject({ code: 0 });
      expect(await stage.processes()).toEqual([]);
    }
  });
}

async function retryOf(daemon: RunningDaemon): Promise<{ readonly error: string; readonly due_at: string }> {
  const { retry } = (await daemon.json('/api/v1/A-1')) as { retry: { error: string; due_at: string } };
  return retry;
}
