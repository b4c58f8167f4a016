import { describe, expect, it } from 'vitest';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { readWorkflow } from './workflow.ts';

function read(yaml: string, env: Record<string, string>) {
  return readWorkflow(`---\n${yaml}\n---\nx\n`, '/srv/WORKFLOW.md', fakeContext({ env }));
}

describe('secrets', () => {
  it('are the resolved credentials of every block, with their parts, longest first', () => {
    const yaml = `tracker: { kind: jira, endpoint: $URL, api_key: "me@x.test:$TOKEN", project: $P }\ngitlab: { api_key: $OTHER, project: $Q, endpoint: "https://u:pa55word@h" }`;
    const loaded = read(yaml, { URL: 'https://j.test', TOKEN: 'tok-123456', OTHER: 'other-123456', P: 'p', Q: 'q' });
    expect(loaded.secrets).toEqual(['me@x.test:tok-123456', 'other-123456', 'tok-123456', 'u:pa55word', 'pa55word']);
    expect(loaded.secretVariables).toEqual(['TOKEN', 'OTHER', 'URL', 'Q', 'P']);
  });

  it.each([
    ['tracker: { kind: file, api_key: $TOKEN }'],
    ['tracker: { kind: file, api_key: "me:${TOKEN}" }'],
    ['tracker: { kind: file, token: $TOKEN }'],
    ['tracker: { kind: file }\njira: { api_key: $TOKEN }'],
    ['tracker: { kind: jira, api_key: k, endpoint: "https://j.test", project: P }\nfile: { api_key: $TOKEN }'],
    ['tracker: { kind: file, endpoint: "https://me:${TOKEN}@host" }'],
  ])('may stand where the kind reads none: %s', (yaml) => {
    const loaded = read(yaml, { TOKEN: 'tok-123456' });
    expect(loaded.secrets).toContain('tok-123456');
    expect(loaded.secretVariables).toEqual(['TOKEN']);
  });

  it('are no texts that only hold a dollar sign', () => {
    const loaded = read('tracker: { kind: file, query_filter: "text ~ $HOME" }\nfile: { path: $HOME }', { HOME: '/home/me' });
    expect(loaded).toMatchObject({ secrets: [], secretVariables: [] });
  });

  it('of the server are among them', () => {
    const yaml = 'tracker: { kind: file }\nserver: { token: $DOOR, webhooks: { secret: "${HOOK}" } }';
    const loaded = read(yaml, { DOOR: 'door-token-1', HOOK: 'hook-secret-22' });
    expect(loaded.secrets).toEqual(['hook-secret-22', 'door-token-1']);
    expect(loaded.secretVariables).toEqual(['DOOR', 'HOOK']);
  });

  it.each([
    ['postgres://foray:pa%40ssword@db/foray', {}, ['pa%40ssword', 'pa@ssword'], []],
    ['postgres://foray:$DB@db/foray', { DB: 'pa55-word' }, ['pa55-word'], ['DB']],
    ['$DB', { DB: 'postgres://db/foray?user=foray&password=pa55-word' }, ['pa55-word'], ['DB']],
    ['postgres://foray@db/foray', { PGPASSWORD: 'pa55@word' }, ['pa55@word', 'foray:pa55%40word'], ['PGPASSWORD']],
  ])('of the database are among them: %s', (url, env, values, variables) => {
    const loaded = read(`tracker: { kind: file }\nstore: { url: "${url}" }`, env);
    for (const value of values) expect(loaded.secrets.some((secret) => secret.includes(value))).toBe(true);
    expect(loaded.secrets).toContain(values[0]);
    expect(loaded.secretVariables).toEqual(variables);
  });

  it('of the database may come from PGPASSWORD, which is no business of agents then', () => {
    const yaml = 'tracker: { kind: file }\nstore: { url: "postgres://foray@db/foray" }';
    expect(read(yaml, { PGPASSWORD: 'pa55@word' }).storeUrl).toBe('postgres://foray:pa55%40word@db/foray');
    const own = yaml.replace('foray@', 'foray:own-pa55word@');
    expect(read(own, { PGPASSWORD: 'of-the-agents' })).toMatchObject({ secretVariables: [] });
  });

  it('are known also when the file has errors', () => {
    const loaded = read('tracker: { kind: nope, api_key: $TOKEN, project: $P }\nserver: 5', { TOKEN: 'tok-123456' });
    expect(loaded.settings).toBeNull();
    expect(loaded.secrets).toEqual(['tok-123456']);
    expect(loaded.secretVariables).toEqual(['TOKEN', 'P']);
  });

  it.each(['constructor', 'toString', '__proto__'])('$%s is a variable that is not set, like any other', (name) => {
    const loaded = read(`tracker: { kind: github, api_key: $${name}, project: a/b }\nserver: { token: $${name} }`, {});
    expect(loaded.secrets).toEqual([]);
    expect(loaded.problems.map(({ message }) => message).join()).toContain(`$${name} is not set`);
  });

  it('do not appear in a message, even when a kind quotes them', () => {
    const loaded = read('tracker: { kind: github, api_key: k, project: a/b, endpoint: "ftp://me:tok-123456@host" }', {});
    const messages = loaded.problems.map(({ message }) => message);
    expect(messages).toContain('ftp://***@host is not an http(s) URL (line 2, column 52)');
    expect(messages.join('\n')).not.toContain('tok-123456');
  });

  it('do not appear in a message about their own wrong type', () => {
    const { problems } = read(
      'tracker: { kind: github, api_key: [tok-123456], project: a/b }\ngitlab: { api_key: { a: tok-123456 } }',
      {},
    );
    expect(problems).toHaveLength(2);
    expect(JSON.stringify(problems)).not.toContain('tok-');
  });

  it('do not appear in a YAML fault', () => {
    const { problems } = read('tracker:\n  api_key: "tok-123456\n', {});
    expect(problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(problems)).not.toContain('tok-');
  });
});
