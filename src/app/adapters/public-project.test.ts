import { describe, expect, it } from 'vitest';
import { settingsWith } from '../../../test/support/settings.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { publicProblem } from './public-project.ts';

const PUBLIC = { id: '1', path: 'acme/app', isPublic: true };
const LABELS = { takesUnlabelled: true };

function warningFor(
  over: Partial<TrackerSettings> = {},
  facts: Parameters<typeof publicProblem>[2] = PUBLIC,
  kind: object = LABELS,
) {
  return publicProblem(settingsWith({ tracker: over }).tracker, kind, facts);
}

describe('the warning that anyone can start a run', () => {
  it('names the project, what is taken and the ways out', () => {
    expect(warningFor()).toMatchObject({
      severity: 'warning',
      check: 'tracker.authors',
      message:
        'anyone can start a run here: acme/app is public, and an open issue without a state label is taken for "todo"; ' +
        'set tracker.authors, tracker.approval_label or tracker.query_filter',
    });
  });

  it.each<[string, Partial<TrackerSettings>]>([
    ['collaborators', { authors: 'collaborators' }],
    ['a list of authors', { authors: ['ada'] }],
    ['an approval label', { approvalLabel: 'approved' }],
    ['a filter', { queryFilter: 'label:ok' }],
    ['no active state', { activeStates: [] }],
  ])('is not given with %s', (_name, over) => {
    expect(warningFor(over)).toBeNull();
  });

  it('is given for a filter of blanks, which filters nothing', () => {
    expect(warningFor({ queryFilter: ' ' })).not.toBeNull();
  });

  it.each([
    ['the project cannot be read', null],
    ['its visibility is not told', { ...PUBLIC, isPublic: null }],
    ['it is private', { ...PUBLIC, isPublic: false }],
  ])('is not given where %s', (_name, facts) => {
    expect(warningFor({}, facts)).toBeNull();
  });

  it('is not given for a kind that takes no issue without a state of its own', () => {
    expect(warningFor({}, PUBLIC, {})).toBeNull();
  });
});
