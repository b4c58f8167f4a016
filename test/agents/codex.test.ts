import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeProgram } from './contract.ts';
import { startModelApi, type ModelApi } from './model-api.ts';
import { codex } from './programs.ts';
import { createStage, PATIENCE_MS, type Stage } from './stage.ts';

describeProgram(codex);

/** Tools whose calls Codex carries out without a word to us. The one that asks a person it refuses: then the model asks in its text. */
const SILENT = ['readsGoal', 'setsGoal', 'viewsNothing', 'writesNowhere'] as const;

describe('a turn of Codex with text, and calls that it does not show', () => {
  let api: ModelApi;
  let stage: Stage;
  beforeAll(async () => {
    api = await startModelApi();
    stage = await createStage(codex, api);
  });
  afterAll(async () => {
    await stage.close();
    await api.stop();
  });

  it('counts, and a question in it parks the issue', async () => {
    const daemon = await stage.playAll([...SILENT, 'asksUser']);
    const ended = async (): Promise<unknown> => {
      const { runs } = (await daemon.json('/api/v2/runs')) as { runs: { status: string; issue_identifier: string }[] };
      return Object.fromEntries(runs.map(({ issue_identifier, status }) => [issue_identifier, status]));
    };
    const counted = Object.fromEntries(SILENT.map((_name, index) => [`A-${index + 1}`, 'succeeded']));
    const asked = `A-${SILENT.length + 1}`;
    await expect.poll(ended, { timeout: PATIENCE_MS }).toEqual({ ...counted, [asked]: 'failed' });
    const { parked } = (await daemon.json('/api/v2/parked')) as { parked: unknown[] };
    expect(parked).toMatchObject([{ issue_identifier: asked, reason: 'needs_person' }]);
    expect(JSON.stringify(parked)).toContain('Which database do you want?');
    expect(await daemon.stop()).toMatchObject({ code: 0 });
    expect(await stage.processes()).toEqual([]);
  });
});
