import { describe, expect, it } from 'vitest';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { FILE_TRACKER, read, lines, added } from '../../test/support/config/read-workflow.ts';
import { processorMs } from '../../test/support/processor-time.ts';

describe('states in force', () => {
  const settings = (yaml: string) => read(yaml).settings?.tracker;
  const rows: readonly (readonly [title: string, yaml: string, active: readonly string[], terminal: readonly string[]])[] = [
    ['omitted, defaults gate', 'kind: github', ['backlog', 'in-progress'], ['done', 'wontfix']],
    ['empty, defaults gate', 'kind: github, active_states: [], terminal_states: []', [], []],
    ['omitted, defaults only derive', 'kind: gitlab', [], ['done', 'wontfix']],
    ['empty, defaults only derive', 'kind: gitlab, active_states: [], terminal_states: []', [], ['done', 'wontfix']],
    ['written', 'kind: gitlab, active_states: [" a", "", b ], terminal_states: [c]', ['a', 'b'], ['c']],
  ];

  it.each(rows)('%s', (_, keys, active, terminal) => {
    const tracker = settings(`tracker: { ${keys}, api_key: k, project: a/b }`);
    expect({ active: tracker?.activeStates, terminal: tracker?.terminalStates }).toEqual({ active, terminal });
  });
});
describe('problems', () => {
  it('come in file order for single keys, then tracker, kind, agent, reactions, template', () => {
    const yaml =
      'zz: 1\nserver: { port: x }\npolling: { interval_ms: 1 }\nagent: { kind: acp }\nreactions: { ci_failure: { provider: file } }\ntracker: { kind: github, project: x }';
    const template = { severity: 'error', check: 'template', message: 'bad (line 9, column 1)' } as const;
    const { problems } = read(yaml, { checkTemplate: () => [template] });
    expect(problems.map(({ check }) => check)).toEqual([
      'config.unknown_key',
      'server.port',
      'polling.interval_ms',
      'tracker.api_key',
      'tracker.project.format',
      'agent.command',
      'reactions.ci_failure.provider',
      'template',
    ]);
  });

  it('of the template refuse the file, and are looked for at the right line', () => {
    const seen: unknown[] = [];
    const checkTemplate = (body: string, firstLine: number) => {
      seen.push([body, firstLine]);
      return [{ severity: 'error', check: 'template', message: 'x' }] as const;
    };
    expect(read(FILE_TRACKER, { checkTemplate }, '\n  \n  A\nB  \n\n').settings).toBeNull();
    expect(seen).toEqual([['  A\nB', 8]]);
  });

  it('are none for an empty body: there is a prompt to fall back on', () => {
    const { problems, settings, body } = read(FILE_TRACKER, undefined, '  \n');
    expect(problems).toEqual([]);
    expect(settings).not.toBeNull();
    expect(body).toBe('');
  });

  it('point at the alias a block is written under', () => {
    const { providers } = fakeContext();
    const fault = { severity: 'warning', check: 'nsproject.x', message: 'm', key: ['nsproject', 'page_size'] } as const;
    const picky = providers.map((provider) => ({ ...provider, check: () => [fault] }));
    expect(
      lines('tracker: { kind: gitlab, api_key: k, project: a/b, active_states: [a] }\ngitlab:\n  page_size: 3', {
        providers: picky,
      }),
    ).toEqual(['warning: nsproject.x: m (line 4, column 3)']);
  });

  it('find a key behind an alias', () => {
    expect(lines(`${FILE_TRACKER}polling: &p { interval_ms: 0 }\nzz: *p`)).toContain(
      'error: polling.interval_ms: must be a whole number of at least 10, got 0 (line 4, column 15)',
    );
  });
});
it('takes a file of many unknown keys in time that grows with the file', () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `unknown_${index}: 1`).join('\n');
  // Compared each with each, as it once was, they took five times as long.
  expect(processorMs(() => expect(added(keys)).toHaveLength(20_000))).toBeLessThan(4_000);
});
describe('a credential in the file itself', () => {
  it('warns, wherever it stands, and never shows it', () => {
    const found = added(
      'server: { token: abcdefgh12345678, webhooks: { secret: hunter2hunter2 } }\ngitlab: { api_key: glpat-0123456789abcdef }\n',
    );
    expect(found.map((line) => line.split(':').slice(0, 2).join(':'))).toEqual([
      'warning: gitlab.api_key.literal',
      'warning: server.token.literal',
      'warning: server.webhooks.secret.literal',
    ]);
    expect(found.join('\n')).not.toMatch(/abcdefgh|hunter2|glpat/);
    expect(found[0]).toMatch(/write \$NAME \(line \d+, column \d+\)$/);
  });

  it('the password of a database and the address of a webhook are credentials too', () => {
    const found = added(
      'store: { url: "postgres://u:hunter2@db/x" }\nnotifications: [{ url: "https://hooks.slack.com/services/T0/B0/hunter2" }, { url: $HOOK }]\n',
    );
    expect(found.filter((line) => line.includes('.literal'))).toEqual([
      expect.stringMatching(/^warning: store\.url\.literal: store\.url holds the credential itself.* \(line 4, column 10\)$/),
      expect.stringMatching(/^warning: notifications\.url\.literal: .* \(line 5, column 19\)$/),
    ]);
    expect(found.join('\n')).not.toContain('hunter2');
  });

  it('warns of a password in an address, and never shows it', () => {
    const endpoint = 'endpoint: "https://op:pa55word-1@git.acme.dev"';
    const found = added(`gitlab: { ${endpoint} }\nstore: { url: "postgres://db.acme.dev/x?password=pa55word-2" }`);
    expect(found.join('\n')).toMatch(/warning: gitlab\.endpoint\.literal: .*\n(?:.*\n)*warning: store\.url\.literal: /);
    expect(found.join('\n')).not.toContain('pa55word');
  });
});
