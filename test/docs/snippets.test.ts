import { createHmac, timingSafeEqual } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import { isMap, parseAllDocuments, parseDocument } from 'yaml';
import { loadAgentKinds } from '../../src/agents/registry.ts';
import { checkWords, readArgs } from '../../src/cli/args.ts';
import { COMMANDS, RUN_COMMAND } from '../../src/cli/commands.ts';
import { readWorkflow } from '../../src/config/workflow.ts';
import type { NotificationEntry } from '../../src/domain/model/notification.ts';
import { bodyOf } from '../../src/notify/message.ts';
import { analyseTemplate } from '../../src/prompt/analyse.ts';
import { parseTemplate } from '../../src/prompt/parse.ts';
import { loadProviders } from '../../src/providers/registry.ts';
import { createMetrics } from '../../src/server/metrics/metrics.ts';
import { createApp } from '../../src/server/routes.ts';
import { parseScm } from '../../src/workspace/scm-file.ts';
import { busyAfternoon } from '../browser/scene.ts';
import { faultsOf } from '../deploy/promql.ts';
import { blocksIn, PAGES, ROOT, SNIPPETS, textOf, wordsOf } from './pages.ts';

const PROVIDERS = await loadProviders();
const AGENT_KINDS = await loadAgentKinds();

/** Reads a workflow file as `foray validate` does, with every variable set that it names. */
function problemsOf(text: string, page: string): readonly string[] {
  const value = 'someone@example.com:a-token-of-some-length';
  const known: Record<string, string> = { DATABASE_URL: 'postgres://foray@127.0.0.1/foray', FORAY_TOKEN: 'a'.repeat(32) };
  const hooks = { SLACK_HOOK: 'https://hooks.example.com/a', OPS_HOOK: 'https://hooks.example.com/b' };
  const named = [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => [name, value] as const);
  const env = { ...Object.fromEntries(named), ...known, ...hooks };
  const checkTemplate = (body: string, firstLine: number) => {
    analyseTemplate(parseTemplate(body, { firstLine }));
    return [];
  };
  const context = { env, homeDir: os.homedir(), providers: PROVIDERS, agentKinds: AGENT_KINDS, checkTemplate };
  return readWorkflow(text, path.join(ROOT, page), context)
    .problems.filter(({ severity, check }) => severity === 'error' || check === 'config.unknown_key')
    .map(({ check, message }) => `${check}: ${message}`);
}

describe('workflow files', () => {
  it.each(blocksIn('markdown').filter(([, begins]) => begins === '---'))('%s: %s a whole one is good', (page, _begins, text) => {
    expect(problemsOf(text, page)).toEqual([]);
  });

  it.each(blocksIn('yaml').filter(([, begins]) => begins === '---'))('%s: %s a whole one is good', (page, _begins, text) => {
    expect(problemsOf(text, page)).toEqual([]);
  });
});

/** What a part of a workflow file is put into, by the kind of its reactions where it has some. */
const REST: Readonly<Record<string, string>> = {
  tracker: 'tracker: { kind: file, active_states: [todo], terminal_states: [done], handoff_state: review }',
  file: 'file: { path: examples/issues.json }',
  agent: 'agent: { kind: mock }',
};
const FORGE = (kind: string): string =>
  `tracker: { kind: ${kind}, endpoint: "https://git.example.org", api_key: $TOKEN, project: acme/shop, active_states: [todo], terminal_states: [done], handoff_state: review }`;

describe('parts of workflow files', () => {
  const parts = blocksIn('yaml').filter(([, begins, text]) => begins !== '---' && !/^(?:- alert|scrape_configs)/.test(text));

  it.each(parts)('%s: %s … is understood, key by key', (page, _begins, text) => {
    const document = parseDocument(text);
    expect(document.errors).toEqual([]);
    const keys = isMap(document.contents) ? document.contents.items.map(({ key }) => String(key)) : [];
    const kind = /provider: (\w+)/.exec(text)?.[1];
    const rest: Record<string, string> = { ...REST, ...(kind === undefined ? {} : { tracker: FORGE(kind) }) };
    if (kind !== undefined || keys.includes('tracker')) delete rest['file'];
    if (text.includes('kind: file') && !keys.includes('file')) rest['file'] = REST['file'] ?? '';
    if (text.includes('run_on')) rest['store'] = 'store: { url: $DATABASE_URL }';
    const added = Object.entries(rest).filter(([key]) => !keys.includes(key));
    const whole = `---\n${text}\n${added.map(([, line]) => line).join('\n')}\n---\nDo it.\n`;
    expect(problemsOf(whole, 'README.md'), page).toEqual([]);
  });

  it.each(blocksIn('yaml').filter(([, , text]) => /^(?:- alert|scrape_configs)/.test(text)))(
    '%s: %s … is what Prometheus reads',
    (_page, _begins, text) => {
      const [document] = parseAllDocuments(text);
      expect(document && 'errors' in document ? document.errors : []).toEqual([]);
      for (const [, expression = ''] of text.matchAll(/expr: (.*)$/gm)) expect(faultsOf(expression)).toEqual([]);
    },
  );
});

/** Where each JSON block belongs: an answer of the HTTP interface, or what else reads it. */
const ANSWERS: Readonly<Record<string, readonly [method: string, path: string, status: string]>> = {
  '{ "error"': ['get', '/api/v1/{identifier}', '404'],
  '{\n  "status"': ['get', '/readyz', '200'],
  '{\n  "generated_at"': ['get', '/api/v1/state', '200'],
  '{\n  "issue_identifier"': ['get', '/api/v1/{identifier}', '200'],
  '{ "queued"': ['post', '/api/v1/refresh', '202'],
  '{\n  "runs"': ['get', '/api/v2/runs', '200'],
  '{ "requested"': ['post', '/api/v2/issues/{identifier}/stop', '202'],
};

const READERS: Readonly<Record<string, (text: string) => void>> = {
  'docs/getting-started.md': () => {
    // The first steps are taken with it: getting-started.test.ts.
    expect(textOf('test/docs/getting-started.test.ts')).toContain("snippet('json')");
  },
  'docs/notifications.md': (text) => {
    const shown = JSON.parse(text) as { issue: object };
    const issue = { id: '1', identifier: 'A-1', displayIdentifier: null, title: 'Hi', url: 'https://t/1', state: 'review' };
    const write = { kind: 'notification', target: 'HOOK', event: 'handoff', over: false, at: 0, text: '', page: '/', error: '' };
    const sent = bodyOf('json', { id: 'n1', issue, write, tries: 0, dueAt: 0 } as NotificationEntry, '') as { issue: object };
    expect([Object.keys(shown), Object.keys(shown.issue)]).toEqual([Object.keys(sent), Object.keys(sent.issue)]);
  },
  'docs/reactions/opening-a-merge-request.md': (text) => {
    expect(parseScm(text)).toMatchObject({ branch: 'foray/12', prNumber: 34, owner: 'acme', repo: 'shop' });
  },
};

describe('JSON', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);

  beforeAll(async () => {
    const daemon = busyAfternoon();
    const app = createApp(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    );
    ajv.addSchema((await (await app.request('/api/v2/openapi.json')).json()) as object, 'api');
  });

  it.each(blocksIn('json'))('%s: %s … is what is really answered or read', (page, _begins, text) => {
    const value: unknown = JSON.parse(text);
    const answer = Object.entries(ANSWERS).find(([start]) => page === 'docs/http-api.md' && text.startsWith(start))?.[1];
    if (answer === undefined) {
      expect(READERS[page], `nothing says what ${page} shows here`).toBeDefined();
      return READERS[page]?.(text);
    }
    const [method, route, status] = answer;
    const pointer = ['paths', route, method, 'responses', status, 'content', 'application/json', 'schema']
      .map(asPointer)
      .join('/');
    const validate = ajv.compile({ $ref: `api#/${pointer}` });
    validate(value);
    expect(validate.errors).toBeNull();
  });
});

function asPointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}

it('the check of a signature that the docs show accepts what is sent, and nothing else', () => {
  const code = blocksIn('js').find(([page]) => page === 'docs/notifications.md')?.[2] ?? '';
  // oxlint-disable-next-line no-implied-eval -- the snippet is run as it stands
  const isOurs = new Function('createHmac', 'timingSafeEqual', 'secret', 'rawBody', 'request', `${code}\nreturn isOurs;`) as (
    ...given: readonly unknown[]
  ) => boolean;
  const signature = `sha256=${createHmac('sha256', 's').update('{}').digest('hex')}`;
  const check = (given?: string) =>
    isOurs(createHmac, timingSafeEqual, 's', '{}', { headers: { 'x-foray-signature-256': given } });
  expect([check(signature), check(signature.replace(/.$/, 'x')), check()]).toEqual([true, false, false]);
});

it('the prompt that the docs show is a template', () => {
  const shown = SNIPPETS.filter(({ language, text }) => language === '' && text.includes('{{'));
  expect(shown.length).toBeGreaterThan(0);
  for (const { text } of shown) expect(analyseTemplate(parseTemplate(text, { firstLine: 1 }))).toEqual([]);
});

it('no block is in a language that nothing reads', () => {
  // SQL is run by the tests of the fleet, on a real server.
  const known = ['', 'sh', 'console', 'yaml', 'json', 'markdown', 'js', 'ini', 'dockerfile', 'sql'];
  expect(SNIPPETS.filter(({ language }) => !known.includes(language))).toEqual([]);
});

describe('command lines in sentences', () => {
  const lines = PAGES.flatMap((page) =>
    [
      ...textOf(page)
        .replaceAll(/```[\s\S]*?```/g, '')
        .matchAll(/`foray ([^`]+)`/g),
    ]
      .map(([, line = '']) => line.replaceAll('\\|', '|').replace(/\s*(?:2?>|\|).*$/s, ''))
      .filter((line) => /^[a-z-]+ \S|^--/.test(line) && !/[[\]…]/.test(line))
      .map((line) => [page, line] as const),
  );

  it.each(lines)('%s: foray %s is understood', (_page, line) => {
    const args = wordsOf(line.replaceAll('\n', ' '));
    if (args.some((word) => ['--help', '-h', '--version', '-V', 'help'].includes(word))) return;
    const command = COMMANDS.find(({ name }) => name === args[0]);
    const chosen = command ?? RUN_COMMAND;
    expect(() => checkWords(chosen, readArgs(chosen, command ? args.slice(1) : args).words)).not.toThrow();
  });
});
