import { afterEach, describe, expect, it } from 'vitest';
import type { FakeLinear, FakeLinearOptions } from '../../../test/fakes/linear.ts';
import { startFakeLinear } from '../../../test/fakes/linear.ts';
import { errorBody, remoteError } from '../../../test/fakes/linear/failures.ts';
import { asked, failureOf, never, openTracker } from '../../../test/fakes/linear/connect.ts';
import { json, reset } from '../../../test/support/http-server.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';

const running: FakeLinear[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start(over: Partial<TrackerSettings> = {}, options: FakeLinearOptions = {}) {
  const fake = await startFakeLinear(options);
  running.push(fake);
  const subject = openTracker(fake, over);
  return { fake, ...subject, preflight: (signal = never) => subject.tracker.preflight!(signal) };
}

describe('linear preflight', () => {
  it('building makes no request; the preflight asks who the key is, then for the team, once', async () => {
    const { fake, tracker, preflight, records } = await start();
    expect(fake.requests).toEqual([]);
    await preflight();
    expect(asked(fake.requests)).toEqual(['Viewer', 'TeamStates']);
    await tracker.fetchCandidateIssues(never);
    await tracker.fetchCandidateIssues(never);
    expect(asked(fake.requests, 2)).toEqual(['Issues', 'Issues']);
    expect(records).toEqual([]);
  });

  it.each([
    ['a wrong key', 'lin_api_wrong'],
    ['a key with a scheme', 'Bearer lin_api_fake0123456789'],
  ])('%s is tracker_auth_error with the remedy, without a second try and without the key', async (_, apiKey) => {
    const { fake, preflight } = await start({ apiKey });
    const error = await failureOf(preflight());
    expect(error).toMatchObject({ kind: 'tracker_auth_error', retryable: false });
    expect(error.message).toContain('check tracker.api_key');
    expect(error.message).not.toContain(apiKey);
    expect(fake.requests).toHaveLength(1);
  });

  it('401 without errors is the same', async () => {
    const { fake, preflight } = await start();
    fake.failNext('viewer', json({}, 401));
    expect((await failureOf(preflight())).kind).toBe('tracker_auth_error');
  });

  it.each([
    ['Retry-After', 429, () => ({ 'retry-after': '3600' })],
    [
      'the end of the window',
      400,
      () => ({ 'x-ratelimit-requests-remaining': '0', 'x-ratelimit-requests-reset': String(Date.now() + 3_600_000) }),
    ],
  ])('a limit with %s is told as such and handed on: no second try', async (_what, status, headers) => {
    const { fake, preflight } = await start();
    const limited = { message: 'Rate limit exceeded', extensions: { code: 'RATELIMITED' } };
    fake.failNext('viewer', json({ errors: [limited] }, status, headers()));
    const error = await failureOf(preflight());
    expect(error).toMatchObject({ kind: 'tracker_api_error', retryable: true });
    expect(error.retryAfterMs).toBeGreaterThan(3_000_000);
    expect(error.message).not.toContain('tracker.endpoint');
    expect(fake.requests).toHaveLength(1);
  });

  it('a limit that names no time is handed on too: the next poll asks', async () => {
    const { fake, preflight } = await start();
    fake.failNext('viewer', json({ errors: [{ message: 'Rate limit exceeded', extensions: { code: 'RATELIMITED' } }] }, 400));
    expect(await failureOf(preflight())).toMatchObject({ kind: 'tracker_api_error', retryable: true, isLimit: true });
    expect(fake.requests).toHaveLength(1);
  });

  it.each(['viewer', 'teams('])('what may heal at %s is tried three times more', async (part) => {
    const { fake, preflight } = await start();
    for (const reply of [reset(), json({}, 503), json(errorBody(remoteError('busy', 'lock timeout')))])
      fake.failNext(part, reply);
    await preflight();
    expect(fake.requests).toHaveLength(5);
  });

  it('what does not heal ends start-up', async () => {
    const { fake, preflight } = await start();
    for (let n = 0; n < 4; n += 1) fake.failNext('viewer', json({}, 503));
    const error = await failureOf(preflight());
    expect(error.kind).toBe('tracker_transport_error');
    expect(error.message).toContain('status 503: {}; check that tracker.endpoint');
    expect(fake.requests).toHaveLength(4);
  });

  it.each(['NOPE', 'eng'])('unknown team key: %s', async (project) => {
    const { preflight } = await start({ project });
    const error = await failureOf(preflight());
    expect(error.kind).toBe('tracker_payload_error');
    expect(error.message).toContain(`unknown team key: "${project}"`);
  });

  it.each<[string, Partial<TrackerSettings>, string]>([
    ['active_states', { activeStates: ['Todo', 'Nope', 'Never'] }, '"Nope", "Never"'],
    ['terminal_states', { terminalStates: ['Finished'] }, '"Finished"'],
    ['handoff_state', { handoffState: 'Human Review' }, '"Human Review"'],
    ['handoff_state', { handoffState: 'In Reviw' }, '"In Reviw"; did you mean "In Review"? team'],
  ])('a name of %s that the team lacks: state name not found in team', async (_, over, names) => {
    const { preflight } = await start(over);
    const error = await failureOf(preflight());
    expect(error.kind).toBe('tracker_payload_error');
    expect(error.message).toContain(`state name not found in team: ${names}`);
    expect(error.message).toContain('"In Progress"');
  });

  it('in_progress_state is not read', async () => {
    const { preflight } = await start({ inProgressState: 'Nope' });
    await preflight();
  });

  it('states are found on every page', async () => {
    const { preflight, fake } = await start({}, { maxPageSize: 3 });
    await preflight();
    expect(asked(fake.requests)).toEqual(['Viewer', 'TeamStates', 'TeamStates', 'TeamStates']);
  });

  it.each([
    ['completed', 'active state is of a finished category'],
    ['canceled', 'active state is of a finished category'],
    ['duplicate', 'active state is of a finished category'],
    ['triage', 'terminal state is of an unfinished category'],
    ['backlog', 'terminal state is of an unfinished category'],
    ['unstarted', 'terminal state is of an unfinished category'],
    ['started', 'terminal state is of an unfinished category'],
  ])('the category %s is odd for one of the lists: %s', async (category, message) => {
    const over = { activeStates: ['odd'], terminalStates: ['ODD too'], handoffState: null };
    const states: FakeLinearOptions['states'] = [
      ['Odd', category],
      ['Odd Too', category],
    ];
    const { preflight, warnings } = await start(over, { states });
    await preflight();
    const state = message.startsWith('active') ? 'Odd' : 'Odd Too';
    expect(warnings()).toMatchObject([{ message, attributes: { state, category, project: 'ENG' } }]);
  });

  it('an abort ends it with its reason', async () => {
    const { preflight } = await start();
    await expect(preflight(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});

describe('linear team states without a preflight', () => {
  it('are read before the first operation that needs them, and again after a failure', async () => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    await tracker.fetchIssueById(id, never);
    await tracker.commentIssue(id, 'x', never);
    await tracker.fetchIssueStatesByIds([id], never);
    expect(asked(fake.requests)).not.toContain('TeamStates');
    fake.failNext('teams(', json({}, 500));
    expect((await failureOf(tracker.fetchCandidateIssues(never))).kind).toBe('tracker_transport_error');
    await tracker.transitionIssue(id, 'done', never);
    await tracker.fetchCandidateIssues(never);
    expect(asked(fake.requests, 3)).toEqual(['TeamStates', 'TeamStates', 'UpdateIssue', 'Issues']);
  });

  it('an abort of one caller does not reach another', async () => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    const controller = new AbortController();
    const first = expect(tracker.fetchCandidateIssues(controller.signal)).rejects.toThrow('enough');
    const second = tracker.transitionIssue(id, 'Done', never);
    controller.abort(new Error('enough'));
    await Promise.all([first, second]);
    expect(fake.issue(id).state).toBe('Done');
  });

  it('refuse every operation that needs them while a configured name is missing', async () => {
    const { fake, tracker } = await start({ terminalStates: ['Nope'] });
    const { id } = fake.addIssue();
    for (const call of [tracker.fetchCandidateIssues(never), tracker.transitionIssue(id, 'Done', never)]) {
      expect((await failureOf(call)).kind).toBe('tracker_payload_error');
    }
    expect(fake.issue(id).state).toBe('Todo');
  });
});
