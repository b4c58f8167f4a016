import { describe, expect, it } from 'vitest';
import { issueWith, refWith } from '../../../test/support/issues.ts';
import {
  FAULT,
  BASE,
  OPEN,
  ok,
  watching,
  look,
  progress,
  startTurn,
  finishTurn,
  ci,
  comment,
} from '../../../test/support/watched.ts';
import { recordOf } from '../../orchestrator/notice-log.ts';
import type { Findings } from '../model/findings.ts';
import type { LabelEvent } from '../model/merge-request.ts';

const ISSUE = refWith({ id: '1' });

describe('label_commands', () => {
  const labelCommands = { ...BASE, reviewLabel: 'foray:review', fixLabel: 'foray:fix' };
  const added = (id: string, label: string, at = '2026-01-01T00:00:00Z'): LabelEvent => ({
    id,
    label,
    added: true,
    actor: 'eve',
    at,
  });

  it('says of which issue a label is that could not be taken off, also once nothing is watched', () => {
    const player = watching({ label_commands: labelCommands });
    look(player, { issueState: ok('done') });
    expect(player.state.watches.size).toBe(0);
    player.send({ type: 'label-removed', issue: ISSUE, label: 'foray:fix', fault: FAULT });
    const [told] = player.told('reaction:label:kept');
    expect(told && recordOf(told)?.attributes).toMatchObject({ issue_id: '1', issue_identifier: 'T-1', label: 'foray:fix' });
  });

  it('runs a command once and takes the label off', () => {
    const player = watching({ label_commands: labelCommands });
    const findings = { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([added('1', 'foray:fix')]) };
    look(player, findings);
    expect(player.state.claims.get('1')).toMatchObject({
      then: { reaction: { labelCommand: { command: 'fix', actor: 'eve' } } },
    });
    startTurn(player);
    expect(player.asked('remove-label')[0]).toMatchObject({ label: 'foray:fix' });
    finishTurn(player);
    look(player, findings);
    expect(player.state.claims.size).toBe(0);
  });

  describe('a command whose turn waits for a slot', () => {
    const asked = { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([added('1', 'foray:fix')]) };
    const removed = { ...added('2', 'foray:fix', '2026-01-01T01:00:00Z'), added: false };
    const queued = (): ReturnType<typeof watching> => {
      const player = watching({ label_commands: labelCommands });
      look(player, asked);
      expect(player.state.claims.get('1')).toMatchObject({ phase: 'waiting' });
      return player;
    };

    it.each<[string, Partial<Findings>]>([
      ['is gone', { merge: ok(OPEN), labels: asked.labels }],
      ['came off by the journal', { merge: asked.merge, labels: ok([added('1', 'foray:fix'), removed]) }],
      ['came off', { merge: ok(OPEN), labels: ok([added('1', 'foray:fix'), removed]) }],
    ])('is taken back, and costs nothing, where its label %s', (_, findings) => {
      const player = queued();
      look(player, findings, 60_000);
      expect(player.state.claims.size).toBe(0);
      expect(player.everTold('reaction:turn:dropped')).toHaveLength(1);
      expect(progress(player, 'label_commands')?.used).toBe(0);
      look(player, { merge: ok(OPEN), labels: ok([added('1', 'foray:fix'), removed]) });
      expect(player.state.claims.size).toBe(0);
    });

    it('is another one where the label was set anew', () => {
      const player = queued();
      const again = { ...added('3', 'foray:fix', '2026-01-01T02:00:00Z'), actor: 'ann' };
      const anew = { merge: asked.merge, labels: ok([added('1', 'foray:fix'), removed, again]) };
      look(player, anew, 60_000);
      look(player, anew);
      expect(player.state.claims.get('1')).toMatchObject({ then: { reaction: { labelCommand: { actor: 'ann' } } } });
    });

    it('stands while the journal cannot be read', () => {
      const player = queued();
      look(player, { ...asked, labels: { ok: false, fault: FAULT } }, 60_000);
      expect(player.state.claims.get('1')).toMatchObject({ phase: 'waiting' });
    });
  });

  it('knows a command in both spellings of Unicode, and takes the label off as it is spelt there', () => {
    const [composed, decomposed] = ['pr\u00fcfen', 'pru\u0308fen'];
    const player = watching({ label_commands: { ...labelCommands, fixLabel: composed } });
    look(player, { merge: ok({ ...OPEN, labels: [decomposed] }), labels: ok([added('1', decomposed)]) });
    expect(player.state.claims.get('1')).toMatchObject({ then: { reaction: { labelCommand: { command: 'fix' } } } });
    startTurn(player);
    expect(player.asked('remove-label')[0]).toMatchObject({ label: decomposed });
  });

  describe('a label whose removal nobody answered for, since the service ended', () => {
    const obeyed = { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([added('1', 'foray:fix')]) };
    /** The command was obeyed; then the service starts anew. */
    const afterRestart = (): ReturnType<typeof watching> => {
      const player = watching({ label_commands: labelCommands });
      look(player, obeyed);
      startTurn(player);
      player.state = { ...player.state, pending: {} };
      return player;
    };

    it('is taken off at the next look, and then no more', () => {
      const player = afterRestart();
      look(player, obeyed);
      expect(player.asked('remove-label')).toMatchObject([{ label: 'foray:fix' }]);
      player.send({ type: 'label-removed', issue: ISSUE, label: 'foray:fix', fault: null });
      look(player, obeyed);
      expect(player.asked('remove-label')).toHaveLength(0);
    });

    it('stays where a person set it again: that is another command', () => {
      const player = afterRestart();
      const again = added('2', 'foray:fix', '2026-01-01T01:00:00Z');
      look(player, { ...obeyed, labels: ok([added('1', 'foray:fix'), again]) });
      expect(player.asked('remove-label')).toHaveLength(0);
    });

    it('is forgotten where it is gone', () => {
      const player = afterRestart();
      look(player, { merge: ok(OPEN), labels: ok([added('1', 'foray:fix')]) });
      look(player, obeyed);
      expect(player.asked('remove-label')).toHaveLength(0);
    });
  });

  it.each<[string, readonly string[], readonly LabelEvent[]]>([
    ['a label that is gone again', [], [added('1', 'foray:fix')]],
    ['another label', ['bug'], [added('1', 'bug')]],
    ['a removal', ['foray:fix'], [{ ...added('1', 'foray:fix'), added: false }]],
  ])('ignores %s', (_name, labels, events) => {
    const player = watching({ label_commands: labelCommands });
    look(player, { merge: ok({ ...OPEN, labels }), labels: ok(events) });
    expect(player.state.claims.size).toBe(0);
  });

  it('a command given in the middle of a look is carried out at the next one', () => {
    const player = watching({ label_commands: labelCommands });
    const labels = ok([added('1', 'foray:fix')]);
    look(player, { labels });
    expect(player.state.claims.size).toBe(0);
    look(player, { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels });
    expect(player.state.claims.size).toBe(1);
  });

  it('a command that was taken back is not waited for', () => {
    const player = watching({ label_commands: labelCommands });
    const taken = { ...added('2', 'foray:fix', '2026-01-01T00:01:00Z'), added: false };
    look(player, { labels: ok([added('1', 'foray:fix'), taken]) });
    look(player, { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([added('1', 'foray:fix'), taken]) });
    expect(player.state.claims.size).toBe(0);
  });

  describe('two commands between two looks', () => {
    const both = [added('1', 'foray:fix'), added('2', 'foray:review', '2026-01-01T00:01:00Z')];
    const findings = { merge: ok({ ...OPEN, labels: ['foray:fix', 'foray:review'] }), labels: ok(both) };
    const afterFirst = { merge: ok({ ...OPEN, labels: ['foray:review'] }), labels: ok(both) };
    const commandOf = (player: ReturnType<typeof watching>) => {
      const claim = player.state.claims.get('1');
      return claim?.phase === 'waiting' && claim.then.kind === 'run' ? claim.then.reaction?.labelCommand?.command : undefined;
    };

    it('are carried out one after the other, the older first', () => {
      const player = watching({ label_commands: { ...labelCommands, budget: 3 } });
      look(player, findings);
      expect(commandOf(player)).toBe('fix');
      startTurn(player);
      expect(player.everAsked('remove-label').map(({ label }) => label)).toEqual(['foray:fix']);
      player.send({ type: 'label-removed', issue: ISSUE, label: 'foray:fix', fault: null });
      finishTurn(player);
      look(player, afterFirst);
      expect(commandOf(player)).toBe('review');
      startTurn(player);
      expect(player.everAsked('remove-label').map(({ label }) => label)).toEqual(['foray:fix', 'foray:review']);
      player.send({ type: 'label-removed', issue: ISSUE, label: 'foray:review', fault: null });
      finishTurn(player);
      look(player, { merge: ok(OPEN), labels: ok(both) });
      expect(player.state.claims.size).toBe(0);
    });

    it('count against the budget: the second escalates and its label is removed', () => {
      const player = watching({ label_commands: labelCommands });
      look(player, findings);
      startTurn(player);
      player.send({ type: 'label-removed', issue: ISSUE, label: 'foray:fix', fault: null });
      finishTurn(player);
      look(player, afterFirst);
      expect(progress(player, 'label_commands')).toMatchObject({ escalated: true, used: 1 });
      expect(player.everAsked('remove-label').map(({ label }) => label)).toEqual(['foray:fix', 'foray:review']);
    });
  });

  it.each<[string, Partial<LabelEvent>, number]>([
    ["the token's own account set it again", { actor: 'foray-bot' }, 0],
    ['a person set it again', {}, 1],
  ])('a command that was taken back counts only where %s', (_name, parts, runs) => {
    const player = watching({ label_commands: { ...labelCommands, budget: 3 } });
    const taken = { ...added('2', 'foray:fix', '2026-01-01T00:01:00Z'), added: false };
    const again = { ...added('3', 'foray:fix', '2026-01-01T00:02:00Z'), ...parts };
    const labels = ok([added('1', 'foray:fix'), taken, again]);
    look(player, { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels, self: ok('foray-bot') });
    expect(player.state.claims.size).toBe(runs);
    if (runs > 0) finishTurn(player);
    look(player, { merge: ok(OPEN), labels, self: ok('foray-bot') });
    expect(player.state.claims.size).toBe(0);
  });

  it('a command given while a run goes on is carried out after it', () => {
    const player = watching({
      label_commands: labelCommands,
      review_comments: { ...BASE, debounceMs: 0, trust: 'anyone' as const },
    });
    look(player, { reviews: ok([comment('a')]), labels: ok([]) });
    startTurn(player);
    const at = new Date(player.now).toISOString();
    const findings = { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([added('1', 'foray:fix', at)]) };
    look(player, findings);
    expect(player.asked('remove-label')).toHaveLength(0);
    player.now += 60_000;
    finishTurn(player);
    look(player, { ...findings, reviews: ok([comment('a')]) });
    expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: 'label_commands' } });
  });

  it('a command for a parked issue keeps its label until the issue is released', () => {
    const player = watching({ label_commands: labelCommands });
    const issue = issueWith({ id: '1', state: 'review' });
    const parked = { issue, reason: 'blocked', detail: '', parkedAt: 0, stateAtPark: 'review' } as const;
    player.state = { ...player.state, parked: new Map([['1', parked]]) };
    const findings = { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([added('1', 'foray:fix')]) };
    look(player, findings);
    expect(player.asked('remove-label')).toHaveLength(0);
    player.state = { ...player.state, parked: new Map() };
    look(player, findings);
    expect(player.state.claims.size).toBe(1);
    startTurn(player);
    expect(player.asked('remove-label')).toHaveLength(1);
  });

  it('a command given before the watch began, as while the first run went on, is carried out', () => {
    const player = watching({ label_commands: labelCommands });
    const labels = ok([added('1', 'foray:fix', '1969-01-01T00:00:00Z')]);
    look(player, { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels });
    expect(player.state.claims.size).toBe(1);
    startTurn(player);
    expect(player.asked('remove-label')).toHaveLength(1);
  });

  describe('its budget', () => {
    const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
    const command = (minute: number, parts: Partial<LabelEvent> = {}) => ({
      merge: ok({ ...OPEN, labels: ['foray:fix'] }),
      labels: ok([{ ...added(String(minute), 'foray:fix', at(minute)), ...parts }]),
    });

    it("is not touched by the token's own account", () => {
      const player = watching({ label_commands: labelCommands });
      look(player, { ...command(1, { actor: 'Foray-Bot' }), self: ok('foray-bot') });
      expect(player.state.claims.size).toBe(0);
      expect(player.asked('remove-label')).toHaveLength(0);
    });

    it('waits while it is not known whether the command is our own', () => {
      const player = watching({ label_commands: labelCommands });
      look(player, { ...command(1), self: { ok: false, fault: FAULT } });
      expect(player.state.claims.size).toBe(0);
      look(player, { ...command(1), self: ok('foray-bot') }, 300_000);
      expect(player.state.claims.size).toBe(1);
    });

    it('is per head; a command beyond it escalates and its label is removed', () => {
      const player = watching({ label_commands: labelCommands });
      look(player, command(1));
      startTurn(player);
      player.send({ type: 'label-removed', issue: ISSUE, label: 'foray:fix', fault: null });
      finishTurn(player);
      look(player, command(2));
      expect(player.state.claims.size).toBe(0);
      expect(player.everAsked('remove-label')).toHaveLength(2);
      expect(progress(player, 'label_commands')).toMatchObject({ escalated: true, used: 1 });
      look(player, { ...command(3), merge: ok({ ...OPEN, headSha: 'sha2', labels: ['foray:fix'] }) });
      expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: 'label_commands' } });
    });

    it('pays for the turns of what it gave another try', () => {
      const player = watching({ label_commands: { ...labelCommands, budget: 2 }, ci_failure: { ...BASE, maxLogLines: 0 } });
      const quiet = { labels: ok([]), ci: ci('failing') };
      look(player, quiet);
      finishTurn(player);
      look(player, quiet);
      expect(progress(player, 'ci_failure')?.escalated).toBe(true);
      look(player, { ...command(1), ci: ci('failing') });
      finishTurn(player);
      look(player, quiet);
      expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: 'ci_failure' } });
      finishTurn(player);
      look(player, quiet);
      expect(progress(player, 'ci_failure')?.escalated).toBe(true);
      look(player, { ...command(2), ci: ci('failing') });
      expect(player.state.claims.size).toBe(0);
      expect(progress(player, 'label_commands')).toMatchObject({ escalated: true, used: 2 });
    });
  });
});
