import { expect, it } from 'vitest';
import { issueWith } from '../../test/support/issues.ts';
import type { Logger } from '../ports/runtime.ts';
import type { Tracker } from '../ports/tracker.ts';
import { screenPeople } from './screened-tracker.ts';

const signal = new AbortController().signal;

it('warns of each thing that could not be read, once per cause', async () => {
  const refuse = (): Promise<never> => Promise.reject(new Error('the token has expired'));
  const author = { id: '7', names: ['ada'], mayWrite: null };
  const bare = {
    fetchIssueById: async () => issueWith({ id: '1', author, labels: ['approved'] }),
    people: { mayWrite: refuse, readSelf: refuse },
  } as unknown as Tracker;
  const warnings: string[] = [];
  const logger: Logger = { debug() {}, info() {}, error() {}, warn: (message) => void warnings.push(message) };
  const tracker = screenPeople(bare, {
    settings: { authors: 'collaborators', approvalLabel: 'approved' },
    tellsCollaborators: true,
    clock: { now: () => 0 },
    logger,
    digest: (text) => text,
  });
  for (const _ of ['first', 'again']) await tracker.fetchIssueById('1', signal);
  expect(warnings).toEqual([
    'it could not be read who may write to the project: their word does not count until it can',
    'our own account could not be read: our comments count as a change of an approved issue',
  ]);
});
