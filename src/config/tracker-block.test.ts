import { describe, expect, it } from 'vitest';
import type { ProviderCheckInput } from '../ports/provider.ts';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { FILE_TRACKER, lines } from '../../test/support/config/read-workflow.ts';

describe('the tracker block', () => {
  const KNOWN =
    'known kinds: file, wfboard (or jira), repoissues (or github), nsproject (or gitlab), selfhosted (or gitea, forgejo), graphql (or linear)';
  const GITHUB = 'tracker:\n  kind: github\n  api_key: k\n  project: a/b\n';
  const rows: readonly (readonly [title: string, yaml: string, lines: readonly string[]])[] = [
    ['no kind', 'tracker: {}', [`error: tracker.kind: tracker.kind is required; ${KNOWN} (line 2, column 1)`]],
    ['an empty kind', 'tracker: { kind: "" }', [`error: tracker.kind: tracker.kind is required; ${KNOWN} (line 2, column 12)`]],
    ['nothing at all', '', [`error: tracker.kind: tracker.kind is required; ${KNOWN} (line 1, column 1)`]],
    [
      'an unknown kind',
      'tracker: { kind: svn }',
      [`error: tracker.kind: unknown tracker kind "svn"; ${KNOWN} (line 2, column 12)`],
    ],
    [
      'a kind of the wrong type',
      'tracker: { kind: [a] }',
      ['error: tracker.kind: must be a string, got a list (line 2, column 12)'],
    ],
    [
      'guards without a value',
      `${GITHUB}  authors:\n  approval_label:\n  query_filter:\n`,
      [
        'warning: config.no_value: `tracker.authors` has no value and counts as not set (line 6, column 3)',
        'warning: config.no_value: `tracker.approval_label` has no value and counts as not set (line 7, column 3)',
      ],
    ],
    ['a tracker that is no map', 'tracker: github', ['error: tracker: must be a map, got a string (line 2, column 1)']],
    [
      'the required keys of a kind, in order',
      'tracker: { kind: jira }',
      [
        'error: tracker.endpoint: tracker.endpoint is required for tracker kind wfboard (jira) (line 2, column 1)',
        'error: tracker.api_key: tracker.api_key is required for tracker kind wfboard (jira) (line 2, column 1)',
        'error: tracker.project: tracker.project is required for tracker kind wfboard (jira) (missing_tracker_project) (line 2, column 1)',
      ],
    ],
    [
      'empty required keys',
      'tracker: { kind: github, api_key: " ", project: "" }',
      [
        'error: tracker.api_key: tracker.api_key is required for tracker kind repoissues (github) (line 2, column 26)',
        'error: tracker.project: tracker.project is required for tracker kind repoissues (github) (missing_tracker_project) (line 2, column 40)',
      ],
    ],
    [
      'a required key whose variable is unset',
      'tracker: { kind: github, api_key: $NO_TOKEN, project: a/b }',
      [
        'error: tracker.api_key: tracker.api_key is required for tracker kind repoissues (github): $NO_TOKEN is not set (line 2, column 26)',
      ],
    ],
    [
      'a key that is only partly there',
      'tracker: { kind: wfboard, endpoint: "https://x", api_key: "me@x:${NO_TOKEN}", project: P }',
      ['warning: tracker.api_key.unset_variable: tracker.api_key is incomplete: $NO_TOKEN is not set (line 2, column 50)'],
    ],
    [
      'an optional endpoint whose variable is unset',
      `${GITHUB}  endpoint: $NO_URL\n`,
      [
        'warning: tracker.endpoint.unset_variable: tracker.endpoint is incomplete: $NO_URL is not set; https://api.example.test is used instead (line 6, column 3)',
      ],
    ],
    [
      'a variable in a key that takes none',
      'tracker: { kind: jira, endpoint: "https://$HOST.example/${PATH_OF_IT}", api_key: k, project: $KEY }',
      [
        'warning: tracker.endpoint.not_expanded: tracker.endpoint: $HOST and $PATH_OF_IT are not replaced here: only a value that is one reference and nothing else is (line 2, column 24)',
        'warning: tracker.project.not_expanded: tracker.project: $KEY is not replaced here: write the value itself (line 2, column 85)',
      ],
    ],
    ['a dollar that begins no name', 'tracker: { kind: jira, endpoint: "https://x/$1", api_key: k, project: A$ }', []],
    ['a variable in a key that the kind does not read', FILE_TRACKER.replace('kind: file', 'kind: file, project: $KEY'), []],
    [
      'a required key of the wrong type is reported once',
      'tracker: { kind: github, api_key: 123456, project: a/b }',
      ['error: tracker.api_key: must be a string, got a number; put it in quotes (line 2, column 26)'],
    ],
    [
      'a blank project is left to the kind',
      'tracker: { kind: github, api_key: k, project: " " }',
      ['error: tracker.project.format: must have the form <owner>/<repo> (line 2, column 38)'],
    ],
    [
      'states of the wrong type',
      `${GITHUB}  active_states: [a, 5]\n  terminal_states: done\n`,
      [
        'error: tracker.active_states: entry 2 must be a string, got a number; put it in quotes (line 6, column 22)',
        'error: tracker.terminal_states: must be a list, got "done" (line 7, column 3)',
      ],
    ],
    [
      'a list entry without a value',
      `${GITHUB}  active_states: [a, ~]\n`,
      ['error: tracker.active_states: entry 2 must be a string, got nothing (line 6, column 22)'],
    ],
    [
      'no active states where the kind has none',
      'tracker: { kind: file }\nfile: { path: x }',
      ['warning: tracker.active_states.empty: tracker.active_states is not set: nothing will be dispatched (line 2, column 1)'],
    ],
    [
      'empty active states',
      `${GITHUB}  active_states: []\n`,
      ['warning: tracker.active_states.empty: tracker.active_states is empty: nothing will be dispatched (line 6, column 3)'],
    ],
    ['no active states where the defaults only derive', 'tracker: { kind: gitlab, api_key: k, project: a/b }', []],
    [
      'overlapping states of the file kind',
      'tracker: { kind: file, active_states: [todo, Done], terminal_states: [done] }\nfile: { path: x }',
      ['error: tracker.states: the state "Done" is both an active and a terminal state (line 2, column 53)'],
    ],
    [
      'a handoff state among the written active states',
      `${GITHUB}  active_states: [Todo]\n  handoff_state: todo\n`,
      [
        'error: tracker.handoff_state: the handoff state "todo" is also one of the active states: the issue would be dispatched again at once (line 7, column 3)',
      ],
    ],
    [
      'a handoff state among the default active states',
      `${GITHUB}  handoff_state: Backlog\n`,
      [
        'error: tracker.handoff_state: the handoff state "Backlog" is also one of the active states: the issue would be dispatched again at once (line 6, column 3)',
      ],
    ],
    [
      'a handoff state among the defaults that only derive',
      'tracker: { kind: nsproject, api_key: k, project: "1", active_states: [todo], terminal_states: [], handoff_state: done }',
      [
        'error: tracker.handoff_state: the handoff state "done" is also one of the terminal states: a handoff does not finish an issue (line 2, column 99)',
      ],
    ],
    [
      'a handoff state among the default terminal states',
      `${GITHUB}  handoff_state: wontfix\n`,
      [
        'error: tracker.handoff_state: the handoff state "wontfix" is also one of the terminal states: a handoff does not finish an issue (line 6, column 3)',
      ],
    ],
    [
      'an empty handoff state',
      `${GITHUB}  handoff_state: " "\n`,
      ['error: tracker.handoff_state: must not be empty (line 6, column 3)'],
    ],
    [
      'an in-progress state that is not active',
      `${GITHUB}  in_progress_state: doing\n`,
      ['error: tracker.in_progress_state: the in-progress state "doing" must be one of the active states (line 6, column 3)'],
    ],
    [
      'an in-progress state that is misspelt',
      `${GITHUB}  active_states: [todo]\n  in_progress_state: tood\n`,
      [
        'error: tracker.in_progress_state: the in-progress state "tood" must be one of the active states; did you mean "todo"? (line 7, column 3)',
      ],
    ],
    [
      'an in-progress state that is terminal',
      `${GITHUB}  active_states: [a]\n  terminal_states: [A]\n  in_progress_state: a\n`,
      ['error: tracker.in_progress_state: the in-progress state "a" must not be one of the terminal states (line 8, column 3)'],
    ],
    [
      'an in-progress state that is the handoff state',
      `${GITHUB}  handoff_state: review\n  in_progress_state: Review\n`,
      [
        'error: tracker.in_progress_state: the in-progress state "Review" must be one of the active states (line 7, column 3)',
        'error: tracker.in_progress_state: the in-progress state "Review" must not be the handoff state (line 7, column 3)',
      ],
    ],
    [
      'a no-change state without a handoff state',
      `${GITHUB}  no_change_state: done\n`,
      ['error: tracker.no_change_state: tracker.no_change_state needs tracker.handoff_state (line 6, column 3)'],
    ],
    [
      'a no-change state that is active',
      `${GITHUB}  handoff_state: review\n  no_change_state: backlog\n`,
      [
        'error: tracker.no_change_state: the no-change state "backlog" is one of the active states: the issue would be dispatched again at once (line 7, column 3)',
      ],
    ],
    ['a no-change state that is terminal', `${GITHUB}  handoff_state: review\n  no_change_state: done\n`, []],
    ['a no-change state that is the handoff state', `${GITHUB}  handoff_state: review\n  no_change_state: review\n`, []],
    ['a no-change state of no list', `${GITHUB}  handoff_state: review\n  no_change_state: parked\n`, []],
    [
      'comments of the wrong type',
      `${GITHUB}  comments: { on_failure: 1, on_fail: true }\n`,
      [
        'error: tracker.comments.on_failure: must be true or false, got 1 (line 6, column 15)',
        'warning: config.unknown_key: unknown key `tracker.comments.on_fail`; did you mean `tracker.comments.on_failure`? (line 6, column 30)',
      ],
    ],
    [
      "a missing option of the kind's own block",
      'tracker: { kind: file, active_states: [a] }',
      ['error: file.path: file.path is required (line 1, column 1)'],
    ],
  ];

  it.each(rows)('%s', (_, yaml, expected) => {
    expect(lines(yaml)).toEqual(expected);
  });

  it('runs the checks of the kind after the generic ones, with the environment', () => {
    expect(lines('tracker: { kind: github, project: a b }', { env: { FORGE_TOKEN: 'tok-123456' } })).toEqual([
      'error: tracker.api_key: tracker.api_key is required for tracker kind repoissues (github) (line 2, column 1)',
      'error: tracker.project.format: must have the form <owner>/<repo> (line 2, column 26)',
      'warning: tracker.api_key.forge_token_hint: FORGE_TOKEN is set: write $FORGE_TOKEN',
    ]);
  });

  it('tells the kind where the file is', () => {
    const { providers } = fakeContext();
    const telling = providers.map((provider) => ({
      ...provider,
      check: ({ workflowDir }: ProviderCheckInput) => [{ severity: 'warning', check: 'x', message: workflowDir ?? '' } as const],
    }));
    expect(lines(FILE_TRACKER, { providers: telling })).toEqual(['warning: x: /srv/team a']);
  });

  it('lets a kind repeat nothing that was said for every kind', () => {
    const { providers } = fakeContext();
    const repeated = { severity: 'warning', check: 'tracker.active_states.empty', message: 'again' } as const;
    const chatty = providers.map((provider) => ({ ...provider, check: () => [repeated] }));
    expect(lines('tracker: { kind: file }\nfile: { path: x }', { providers: chatty })).toHaveLength(1);
  });

  it('skips the checks of a kind whose block cannot be read: they may rely on it', () => {
    const { providers } = fakeContext();
    const check = (): never => {
      throw new Error('called');
    };
    const strict = providers.map((provider) => ({ ...provider, check }));
    expect(lines('tracker: { kind: file, active_states: [a] }', { providers: strict })).toEqual([
      'error: file.path: file.path is required (line 1, column 1)',
    ]);
  });
});
