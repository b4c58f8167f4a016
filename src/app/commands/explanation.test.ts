import { expect, it } from 'vitest';
import { entry } from './explanation.ts';

const remedyOf = (detail: string) => entry({ identifier: 'A-1', state: 'todo' }, 'parked', detail, {}).remedy;

it.each([
  ['needs_person: agent: agent_needs_person: which of them?', 'answer the agent in the issue'],
  [
    'needs_person: delivery: push: fatal: returned error: 403 (the credential may not do this: give the token write access)',
    'mend what the detail says',
  ],
  ['needs_person: delivery: merge request: tracker: tracker_not_found: POST /pulls: status 404', 'mend what the detail says'],
  ['needs_person: delivery: work: end the merge in the workspace, then unpark the issue', 'mend what the detail says'],
  ['blocked: delivery: push: is what I lack', 'read what the agent said and do what it lacks'],
])('parked for "%s" has the remedy of its cause', (detail, cause) => {
  expect(remedyOf(detail)).toBe(`${cause}; then change its state in the tracker, or: foray unpark A-1`);
});
