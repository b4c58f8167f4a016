import { describe, expect, it } from 'vitest';
import { connections } from '../../../test/fakes/gitlab/connect.ts';
import { empty, json } from '../../../test/support/http-server.ts';

const never = new AbortController().signal;
const connect = connections();

describe('transitionIssue', () => {
  type Row = [row: string, target: string, from: { state?: 'closed'; labels: string[] }, body: object | null, after: { state: string; labels: string[] }]; // prettier-ignore
  it.each<Row>([
    ['terminal state, issue open', 'done', { labels: ['bug', 'in-progress'] }, { state_event: 'close', add_labels: 'done', remove_labels: 'in-progress' }, { state: 'closed', labels: ['bug', 'done'] }], // prettier-ignore
    ['active state, issue closed', 'backlog', { state: 'closed', labels: ['done'] }, { state_event: 'reopen', add_labels: 'backlog', remove_labels: 'done' }, { state: 'opened', labels: ['backlog'] }], // prettier-ignore
    ['handoff state', 'human-review', { labels: ['in-progress'] }, { add_labels: 'human-review', remove_labels: 'in-progress' }, { state: 'opened', labels: ['human-review'] }], // prettier-ignore
    ['handoff state of a closed issue', 'human-review', { state: 'closed', labels: [] }, { add_labels: 'human-review' }, { state: 'closed', labels: ['human-review'] }], // prettier-ignore
    ['already converged', 'done', { state: 'closed', labels: ['done'] }, null, { state: 'closed', labels: ['done'] }],
  ])('%s', async (_, target, from, body, after) => {
    const { fake, tracker, sent } = await connect();
    fake.addIssue(from);
    await tracker.preflight?.(never);
    await tracker.transitionIssue('1', target, never);
    await tracker.transitionIssue('1', target, never);
    expect(fake.issue(1)).toMatchObject(after);
    const writes = fake.requests.filter(({ method }) => method === 'PUT').map((request) => request.json());
    expect(writes).toEqual(body === null ? [] : [body]);
    expect(sent('POST')).toEqual([]);
  });

  it.each(['deployed', '', 'opened'])('%j is no configured state: refused before any request', async (target) => {
    const { fake, tracker } = await connect();
    fake.addIssue();
    await expect(tracker.transitionIssue('1', target, never)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    expect(fake.requests).toEqual([]);
  });

  it('attaches the label in its stored casing, so that no duplicate is created', async () => {
    const { fake, tracker } = await connect({}, { labels: ['Backlog', 'Done'], groupLabels: ['In-Progress'] });
    fake.addIssue({ labels: ['Backlog'] });
    await tracker.preflight?.(never);
    await tracker.transitionIssue('1', 'in-progress', never);
    await tracker.transitionIssue('1', 'done', never);
    expect(fake.issue(1).labels).toEqual(['Done']);
    expect(fake.labelNames()).toEqual(['In-Progress', 'Backlog', 'Done']);
  });

  it('clears away case variants of both labels', async () => {
    const { fake, tracker } = await connect({}, { labels: ['Done', 'DONE', 'backlog', 'Backlog'] });
    fake.addIssue({ labels: ['DONE', 'Backlog', 'backlog', 'bug'] });
    await tracker.transitionIssue('1', 'done', never);
    expect(fake.issue(1).labels).toEqual(['Done', 'bug']);
  });

  it('a label missing from the catalogue is created by the move', async () => {
    const { fake, tracker, warnings } = await connect({}, { labels: [] });
    fake.addIssue();
    await tracker.preflight?.(never);
    await tracker.transitionIssue('1', 'done', never);
    expect(fake.issue(1)).toMatchObject({ state: 'closed', labels: ['done'] });
    expect(fake.labelNames()).toEqual(['done']);
    expect(warnings()).toEqual([]);
  });

  it('a label that came after the start is taken as it is spelled, and known from then on', async () => {
    const { fake, tracker, sent } = await connect({}, { labels: ['backlog'] });
    fake.addIssue({ labels: ['backlog'] });
    fake.addIssue();
    await tracker.preflight?.(never);
    fake.editIssue(2, { addLabels: ['Done'] });
    await tracker.transitionIssue('1', 'done', never);
    await tracker.transitionIssue('1', 'backlog', never);
    await tracker.transitionIssue('1', 'done', never);
    expect(fake.issue(1).labels).toEqual(['Done']);
    expect(fake.labelNames()).not.toContain('done');
    expect(sent('GET').filter((line) => line.includes('/labels'))).toHaveLength(2);
  });

  it('without a preflight the catalogue is read by the first move, and again after that failed', async () => {
    const { fake, tracker, warnings, sent } = await connect({}, { labels: ['Done', 'Backlog'] });
    fake.addIssue({ labels: ['Backlog'] });
    fake.failNext({ path: /labels$/ }, empty(503));
    await tracker.transitionIssue('1', 'in-progress', never);
    expect(warnings()).toMatchObject([{ attributes: { label: 'in-progress' } }]);
    await tracker.transitionIssue('1', 'done', never);
    await tracker.transitionIssue('1', 'backlog', never);
    expect(fake.issue(1).labels).toEqual(['Backlog']);
    expect(sent('GET').filter((line) => line.includes('/labels'))).toHaveLength(2);
  });

  it('with the catalogue unavailable, a spelling the issue carries is kept', async () => {
    const { fake, tracker } = await connect({}, { labels: ['Done'] });
    fake.addIssue({ labels: ['Done'], state: 'closed' });
    fake.failNext({ path: /labels$/ }, empty(500));
    await tracker.transitionIssue('1', 'done', never);
    expect(fake.labelNames()).toEqual(['Done']);
  });

  it('labels that somebody adds meanwhile survive', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    fake.afterNext({ method: 'GET', path: /issues\/1$/ }, () => fake.editIssue(1, { addLabels: ['urgent'] }));
    await tracker.transitionIssue('1', 'done', never);
    expect(fake.issue(1).labels).toEqual(['done', 'urgent']);
  });

  it('a read-only token fails with an auth error that names the scope', async () => {
    const { fake, tracker } = await connect({}, { scopes: ['read_api'] });
    fake.addIssue();
    await expect(tracker.transitionIssue('1', 'done', never)).rejects.toMatchObject({
      kind: 'tracker_auth_error',
      message: expect.stringContaining('insufficient_scope') as string,
    });
  });

  // A role that may not set labels: the rest of the update is made, and the answer is a success.
  it.each([[['backlog']], [[]]])('an update of an issue with %j that leaves the new label out is no move', async (labels) => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels });
    fake.failNext({ method: 'PUT', path: /issues\/1$/ }, json({ iid: 1, labels }));
    const detail = 'the label "human-review" was accepted but issue 1 does not carry it';
    const move = tracker.transitionIssue('1', 'human-review', never);
    await expect(move).rejects.toMatchObject({ kind: 'tracker_payload_error', detail });
    await tracker.transitionIssue('1', 'human-review', never);
    expect((await tracker.fetchIssueStatesByIds(['1'], never)).get('1'), 'made again, it is whole').toBe('human-review');
  });

  it('an answer that shows the issue as it was before counts for less than the issue', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    const stale = json({ iid: 1, labels: ['backlog'] });
    fake.failNext({ method: 'PUT', path: /issues\/1$/ }, (response) => {
      fake.editIssue(1, { addLabels: ['human-review'], removeLabels: ['backlog'] });
      stale(response);
    });
    await tracker.transitionIssue('1', 'human-review', never);
  });

  it.each<[what: string, answer: unknown]>([
    ['nothing', {}],
    ['a list', []],
    ['no value', null],
    ['an issue without labels and state', { iid: 1 }],
    ['labels of another shape', { iid: 1, state: 7, labels: [{ name: 'bug' }] }],
    ['the label in another case', { iid: 1, state: 'closed', labels: ['DONE'] }],
  ])('an answer that shows %s is believed', async (_, answer) => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    fake.failNext({ method: 'PUT', path: /issues\/1$/ }, json(answer));
    await tracker.transitionIssue('1', 'done', never);
  });

  it('a state with a comma cannot be a label', async () => {
    const { fake, tracker } = await connect({ handoffState: 'a,b' });
    fake.addIssue();
    await expect(tracker.transitionIssue('1', 'a,b', never)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    expect(fake.requests).toEqual([]);
  });
});

describe('commentIssue', () => {
  it('posts the text as it is', async () => {
    const { fake, tracker, warnings } = await connect();
    fake.addIssue();
    await tracker.commentIssue('1', 'Stopped.\n\n```\n/close\n```', never);
    expect(fake.issue(1)).toMatchObject({ state: 'opened', notes: [{ body: 'Stopped.\n\n```\n/close\n```' }] });
    expect(warnings()).toEqual([]);
  });

  it('warns with the command keys, never the text, when quick actions were triggered', async () => {
    const { fake, tracker, warnings } = await connect();
    fake.addIssue();
    await tracker.commentIssue('1', 'private words\n/close\n/label ~bug', never);
    expect(warnings()).toMatchObject([{ attributes: { issue_identifier: '1', commands: 'state_event, add_label_ids' } }]);
    expect(JSON.stringify(warnings())).not.toContain('private');
  });

  it('a comment consumed as quick actions is a payload error', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue();
    await expect(tracker.commentIssue('1', '/close', never)).rejects.toMatchObject({
      kind: 'tracker_payload_error',
      message: expect.stringContaining('(state_event)') as string,
    });
  });

  it('an empty comment and a missing issue are refused by the remote', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue();
    await expect(tracker.commentIssue('1', ' ', never)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    await expect(tracker.commentIssue('2', 'hi', never)).rejects.toMatchObject({ kind: 'tracker_not_found' });
  });
});
