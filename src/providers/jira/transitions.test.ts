import { describe, expect, it } from 'vitest';
import type { FakeJira } from '../../../test/fakes/jira.ts';
import { connect, failureOf, lines, never } from '../../../test/fakes/jira/connect.ts';
import { empty, json } from '../../../test/support/http-server.ts';

describe('transitions', () => {
  it('are looked up, then made by id', async () => {
    const { fake, tracker } = await connect({ workflow: { Backlog: ['In Progress', 'Done'] } });
    const id = fake.addIssue();
    await tracker.transitionIssue(id, 'done', never);
    expect(fake.issue(id).status).toBe('Done');
    expect(lines(fake)).toEqual([`GET /issue/${id}/transitions`, `POST /issue/${id}/transitions`]);
    expect(fake.requests[1]?.json()).toEqual({ transition: { id: '21' } });
  });

  it('take the first that leads to the target, whatever its own name is', async () => {
    const { fake, tracker } = await connect();
    const offer = (id: string, name: string, to: unknown) => ({ id, name, to });
    const transitions = [
      offer('1', 'Done', { name: 'Closed' }),
      offer('2', 'x', null),
      offer('3', 'a', { name: 'DONE' }),
      offer('4', 'b', { name: 'Done' }),
    ];
    fake.failNext('GET /transitions', json({ transitions }));
    fake.failNext('POST /transitions', empty(204));
    await tracker.transitionIssue('1', 'Done', never);
    expect(fake.requests[1]?.json()).toEqual({ transition: { id: '3' } });
  });

  it('that nobody offers are tracker_payload_error, naming what is offered', async () => {
    const { fake, tracker } = await connect({ workflow: { Backlog: ['In Progress'], Done: [] } });
    const id = fake.addIssue();
    const error = await failureOf(tracker.transitionIssue(id, 'Human Review', never));
    expect(error).toMatchObject({ kind: 'tracker_payload_error', retryable: false });
    expect(error.detail).toBe(
      `the workflow offers no transition of issue ${id} to "Human Review"; available targets: "In Progress"`,
    );
    const stuck = fake.addIssue({ status: 'Done' });
    expect((await failureOf(tracker.transitionIssue(stuck, 'Backlog', never))).detail).toContain('available targets: none');
    expect(fake.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('to where the issue is already are done', async () => {
    const { fake, tracker } = await connect({ workflow: { Backlog: ['In Progress'] } });
    const id = fake.addIssue();
    await tracker.transitionIssue(id, 'BACKLOG', never);
    expect(fake.issue(id).status).toBe('Backlog');
  });

  it('that nobody offers stay so when the issue cannot be read', async () => {
    const { fake, tracker } = await connect({ workflow: { Backlog: [] } });
    const id = fake.addIssue();
    fake.failNext(`GET /issue/${id}`, empty(500));
    expect((await failureOf(tracker.transitionIssue(id, 'Done', never))).kind).toBe('tracker_payload_error');
  });

  it.each<[string, (fake: FakeJira) => void, string, string]>([
    [
      'a field that the screen asks for',
      (fake) => fake.demand('Done', { resolution: 'Resolution is required.' }),
      'tracker_payload_error',
      'resolution: Resolution is required.',
    ],
    [
      'a move by someone else meanwhile',
      (fake) => fake.beforeNext('POST /transitions', () => fake.editIssue('ABC-1', { status: 'Done' })),
      'tracker_payload_error',
      'is not valid for this issue',
    ],
    ['a conflicting update', (fake) => fake.failNext('POST /transitions', empty(409)), 'tracker_api_error', 'status 409'],
    [
      'too many writes',
      (fake) => fake.failNext('POST /transitions', empty(429, { 'retry-after': '2' })),
      'tracker_api_error',
      'retry after 2 s',
    ],
  ])('refused: %s', async (_, prepare, kind, words) => {
    const { fake, tracker } = await connect({ workflow: { Backlog: ['Done'], Done: [] } });
    const id = fake.addIssue();
    prepare(fake);
    const error = await failureOf(tracker.transitionIssue(id, 'Done', never));
    expect(error.kind).toBe(kind);
    expect(error.detail).toContain(words);
  });

  it('with a read-only token are tracker_auth_error', async () => {
    const { fake, tracker } = await connect({ readOnly: true });
    const error = await failureOf(tracker.transitionIssue(fake.addIssue(), 'Done', never));
    expect(error).toMatchObject({ kind: 'tracker_auth_error', status: 403, retryable: false });
  });
});
