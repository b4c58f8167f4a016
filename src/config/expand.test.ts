import { describe, expect, it } from 'vitest';
import type { Expansion } from '../ports/provider.ts';
import { expand, unsetNote } from './expand.ts';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { readDbPath, readWorkspaceRoot } from './paths.ts';
import { readWorkflow } from './workflow.ts';

const ENV = { A: 'one', B_2: 'two', EMPTY: '' };

describe('expand', () => {
  const rows: readonly (readonly [text: string, mode: Expansion, value: string, unset: readonly string[]])[] = [
    ['$A', 'none', '$A', []],
    ['$A', 'whole', 'one', []],
    ['${A}', 'whole', 'one', []],
    ['$A/x', 'whole', '$A/x', []],
    ['$A$A', 'whole', '$A$A', []],
    [' $A', 'whole', ' $A', []],
    ['${A', 'whole', '${A', []],
    ['$NOPE', 'whole', '', ['NOPE']],
    ['$EMPTY', 'whole', '', ['EMPTY']],
    ['x${A}y$B_2-z', 'anywhere', 'xoneytwo-z', []],
    ['$A$NOPE$NOPE', 'anywhere', 'one', ['NOPE']],
    ['$$A', 'anywhere', '$one', []],
    ['\\$A', 'anywhere', '\\one', []],
    ['$1 $ ${} ${1}', 'anywhere', '$1 $ ${} ${1}', []],
    ['$toString', 'anywhere', '', ['toString']],
    ['a$&b', 'anywhere', 'a$&b', []],
  ];

  it.each(rows)('%s, %s', (text, mode, value, unset) => {
    expect(expand(text, mode, ENV)).toMatchObject({ value, unset });
  });

  it('never expands what a variable holds', () => {
    expect(expand('$X', 'anywhere', { X: '$A', A: 'no' }).value).toBe('$A');
  });

  it('names the unset variables', () => {
    expect(unsetNote(expand('$X$Y', 'anywhere', {}))).toBe(': $X and $Y are not set');
    expect(unsetNote(null)).toBe('');
  });
});

describe('a problem of a value whose variable is not set', () => {
  it.each([
    ['tracker.api_key', 'tracker: { kind: github, project: o/r, api_key: $NONE }'],
    ['tracker.endpoint.unset_variable', 'tracker: { kind: github, project: o/r, api_key: k, endpoint: $NONE }'],
    ['workspace.root', 'tracker: { kind: file }\nfile: { path: . }\nworkspace: { root: $NONE/x }'],
    ['workspace.repo', 'tracker: { kind: file }\nfile: { path: . }\nworkspace: { repo: $NONE }'],
    ['server.token', 'tracker: { kind: file }\nfile: { path: . }\nserver: { token: $NONE }'],
    ['store.url', 'tracker: { kind: file }\nfile: { path: . }\nstore: { url: $NONE }'],
    ['notifications.url', 'tracker: { kind: file }\nfile: { path: . }\nnotifications: [{ url: $NONE }]'],
  ])('%s names it on its own too', (check, yaml) => {
    const { problems } = readWorkflow(`---\n${yaml}\n---\nx`, '/srv/WORKFLOW.md', fakeContext({ env: {} }));
    const found = problems.find((problem) => problem.check === check);
    expect(found).toMatchObject({ message: expect.stringContaining(': $NONE is not set') as string, unset: ['NONE'] });
  });
});

describe('the fields that expand, by kind', () => {
  const tracker = (kind: string) => {
    const yaml = `tracker: { kind: ${kind}, endpoint: $A, api_key: "k-$A", project: $A, active_states: [$A], handoff_state: $A-h, query_filter: $A }\nfile: { path: $A }`;
    const { settings } = readWorkflow(`---\n${yaml}\n---\nx`, '/srv/WORKFLOW.md', fakeContext({ env: ENV }));
    return settings?.tracker;
  };
  const rows = [
    ['file', '$A', 'k-$A', '$A'],
    ['wfboard', 'one', 'k-one', '$A'],
    ['nsproject', 'one', 'k-one', 'one'],
    ['selfhosted', 'one', 'k-one', 'one'],
    ['graphql', '$A', 'k-one', '$A'],
  ] as const;

  it.each(rows)('%s', (kind, endpoint, apiKey, project) => {
    expect(tracker(kind)).toMatchObject({
      endpoint,
      apiKey,
      project,
      activeStates: ['$A'],
      handoffState: '$A-h',
      queryFilter: '$A',
    });
  });
});

describe('paths', () => {
  const context = { workflowPath: '/srv/w/WORKFLOW.md', homeDir: '/home/$A', env: ENV };
  const rows = [
    ['~', '/home/$A'],
    ['~/x/$B_2', '/home/$A/x/two'],
    ['~op/x', '/srv/w/~op/x'],
    ['$A/x', '/srv/w/one/x'],
    ['../x', '/srv/x'],
    ['/abs/./x', '/abs/x'],
  ] as const;

  it.each(rows)('%s', (written, expected) => {
    expect(readWorkspaceRoot(written, context)).toEqual({ path: expected, problems: [] });
    expect(readDbPath(written, context)).toEqual({ path: expected, problems: [] });
  });

  it.each([
    [{ XDG_STATE_HOME: '/state' }, /^\/state\/foray\/workspaces\/w-[0-9a-f]{8}$/],
    [{ XDG_STATE_HOME: 'relative' }, /^\/home\/op\/\.local\/state\/foray\/workspaces\/w-[0-9a-f]{8}$/],
    [{}, /^\/home\/op\/\.local\/state\/foray\/workspaces\/w-[0-9a-f]{8}$/],
  ])('the default workspace root with %j', (env, expected) => {
    expect(readWorkspaceRoot(undefined, { ...context, homeDir: '/home/op', env }).path).toMatch(expected);
  });

  it.each(['', 'home'])('below a home of %j are an error, and land nowhere by chance', (homeDir) => {
    const lost = { ...context, homeDir, env: {} };
    const told = {
      severity: 'error',
      message: expect.stringContaining(`HOME is "${homeDir}": set HOME to an absolute path`) as string,
    };
    expect(readWorkspaceRoot(undefined, lost).problems).toMatchObject([{ ...told, check: 'workspace.root' }]);
    expect(readDbPath('~/foray.db', lost).problems).toMatchObject([{ ...told, check: 'db_path' }]);
    expect(readWorkspaceRoot('/abs', lost).problems).toEqual([]);
    expect(readWorkspaceRoot(undefined, { ...lost, env: { XDG_STATE_HOME: '/state' } }).problems).toEqual([]);
  });

  it('of two workflow files never share a default root', () => {
    const roots = ['/a/W.md', '/a/X.md', '/W.md'].map(
      (workflowPath) => readWorkspaceRoot(undefined, { ...context, workflowPath }).path,
    );
    expect(new Set(roots).size).toBe(3);
    expect(roots[2]).toMatch(/\/root-[0-9a-f]{8}$/);
  });
});
