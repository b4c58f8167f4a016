import { expect, it } from 'vitest';
import { TrackerError } from '../../domain/model/errors.ts';
import { rejection } from './reload.ts';

it('a place in another file is not taken for one in the workflow file', () => {
  const detail = 'not JSON: unexpected end at line 3, column 9';
  const error = new TrackerError({ kind: 'tracker_payload_error', method: 'READ', path: '/srv/issues.json', detail });
  const edit = { path: '/srv/WORKFLOW.md', settings: null, placeOf: () => null };
  const { problems, faults } = rejection(error, edit);
  expect(problems).toEqual([error.message]);
  expect(faults).toMatchObject([{ file: '/srv/WORKFLOW.md', line: null, column: null }]);
});
