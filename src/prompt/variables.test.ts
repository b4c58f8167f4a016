import { describe, expect, it } from 'vitest';
import { BARE_SUBJECT, FULL_SUBJECT } from '../../test/support/prompt-subject.ts';
import { isList, isMap, valueKindOf, type TemplateValue } from './value.ts';
import { ROOT, templateData, type Alternatives } from './variables.ts';

/** Paths where a value has none of the shapes of the table, or fields other than those of the table. */
function mismatches(value: TemplateValue, shapes: Alternatives, path: string): string[] {
  const shape = shapes.find((candidate) => candidate.kind === valueKindOf(value));
  if (!shape) return [`${path} is ${valueKindOf(value)}`];
  if (shape.kind === 'list' && isList(value)) return value.flatMap((item) => mismatches(item, shape.items, `${path}[]`));
  if (shape.kind !== 'map' || !isMap(value)) return [];
  const names = new Set([...Object.keys(shape.fields), ...Object.keys(value)]);
  return [...names].flatMap((name) => {
    const known = shape.fields[name];
    const entry = value[name];
    return known && entry !== undefined ? mismatches(entry, known, `${path}.${name}`) : [`${path}.${name}`];
  });
}

/** Every path of the table, for comparing it with the documented one. */
function paths(shapes: Alternatives, path: string): string[] {
  return shapes.flatMap((shape) => {
    if (shape.kind === 'nil') return [`${path}?`];
    if (shape.kind === 'list') return paths(shape.items, `${path}[]`);
    if (shape.kind !== 'map') return [path];
    return Object.entries(shape.fields).flatMap(([name, field]) => paths(field, `${path}.${name}`));
  });
}

describe('the table of variables', () => {
  it('holds the documented fields', () => {
    expect(paths([ROOT], '')).toEqual(
      `.issue.id .issue.identifier .issue.title .issue.description .issue.priority .issue.priority? .issue.state .issue.branch_name
      .issue.url .issue.labels[] .issue.assignee .issue.issue_type .issue.parent.id .issue.parent.identifier .issue.parent?
      .issue.comments[].id .issue.comments[].author .issue.comments[].body .issue.comments[].created_at
      .issue.blocked_by[].id .issue.blocked_by[].identifier .issue.blocked_by[].state .issue.blocked_by[].display_id .issue.blocked_by?
      .issue.created_at .issue.updated_at .attempt .run.turn_number .run.max_turns .run.is_continuation
      .ci_failure.status .ci_failure.check_runs[].name .ci_failure.check_runs[].status .ci_failure.check_runs[].conclusion
      .ci_failure.check_runs[].details_url .ci_failure.failing_count .ci_failure.log_excerpt .ci_failure.ref .ci_failure?
      .review_comments[].id .review_comments[].file .review_comments[].start_line .review_comments[].start_line?
      .review_comments[].end_line .review_comments[].end_line? .review_comments[].reviewer .review_comments[].body .review_comments?
      .bot_review_comments[].id .bot_review_comments[].file .bot_review_comments[].start_line .bot_review_comments[].start_line?
      .bot_review_comments[].end_line .bot_review_comments[].end_line? .bot_review_comments[].reviewer .bot_review_comments[].body
      .bot_review_comments? .merge_conflict.pr_number .merge_conflict.branch .merge_conflict.head_sha .merge_conflict.base
      .merge_conflict? .label_command.command .label_command.pr_number .label_command.owner .label_command.repo
      .label_command.branch .label_command.actor .label_command.requested_at .label_command?`.split(/\s+/),
    );
  });

  it.each([
    ['full', FULL_SUBJECT],
    ['bare', BARE_SUBJECT],
  ])('describes the data of a %s subject exactly', (_, subject) => {
    expect(mismatches(templateData(subject), [ROOT], '')).toEqual([]);
  });
});

describe('templateData', () => {
  it('maps every field', () => {
    expect(templateData(FULL_SUBJECT)).toEqual({
      issue: {
        id: '10042',
        identifier: 'ABC-7',
        title: 'Crash on empty input',
        description: 'It stops.\nEvery time.',
        priority: 2,
        state: 'In Progress',
        branch_name: 'abc-7-crash',
        url: 'https://tracker.example/ABC-7',
        labels: ['bug', 'urgent'],
        assignee: 'kim',
        issue_type: 'Bug',
        parent: { id: '10001', identifier: 'ABC-1' },
        comments: [
          { id: 'c1', author: 'ann', body: 'Seen it.', created_at: '2026-01-02T03:04:05Z' },
          { id: 'c2', author: 'bob', body: 'Me too.', created_at: '2026-01-03T03:04:05Z' },
        ],
        blocked_by: [{ id: '10002', identifier: 'ABC-2', state: 'Done', display_id: 'o/r#2' }],
        created_at: '2026-01-01T00:00:00Z',
        updated_at: '2026-01-04T00:00:00Z',
      },
      attempt: 1,
      run: { turn_number: 2, max_turns: 20, is_continuation: true },
      ci_failure: {
        status: 'failing',
        check_runs: [{ name: 'unit', status: 'completed', conclusion: 'failure', details_url: 'https://ci.example/1' }],
        failing_count: 1,
        log_excerpt: 'expected 1, got 2',
        ref: 'abc-7-crash',
      },
      review_comments: [{ id: 'r1', file: 'src/a.ts', start_line: 3, end_line: 5, reviewer: 'eve', body: 'Name this.' }],
      bot_review_comments: [{ id: 'r2', file: 'src/b.ts', start_line: 8, end_line: 8, reviewer: 'lint-bot', body: 'Unused.' }],
      merge_conflict: { pr_number: 12, branch: 'abc-7-crash', head_sha: 'deadbeef', base: 'main' },
      label_command: {
        command: 'fix',
        pr_number: 12,
        owner: 'group',
        repo: 'project',
        branch: 'abc-7-crash',
        actor: 'ann',
        requested_at: '2026-01-05T00:00:00Z',
      },
    });
  });

  it('gives nil or empty for what is absent', () => {
    expect(templateData(BARE_SUBJECT)).toMatchObject({
      issue: { priority: null, branch_name: '', parent: null, comments: [], blocked_by: null },
      attempt: 0,
      run: { turn_number: 1, is_continuation: false },
      ci_failure: null,
      review_comments: null,
      bot_review_comments: null,
      merge_conflict: null,
      label_command: null,
    });
  });

  it('keeps an empty list of comments apart from none', () => {
    expect(templateData({ ...BARE_SUBJECT, reaction: { reviewComments: [] } })).toMatchObject({
      review_comments: [],
      bot_review_comments: null,
    });
  });
});
