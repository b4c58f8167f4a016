import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { TemplateError } from '../../src/domain/model/errors.ts';
import { readWorkflow } from '../../src/config/workflow.ts';
import { jsonRecord, textRecord } from '../../src/lib/log.ts';
import { analyseTemplate } from '../../src/prompt/analyse.ts';
import { parseTemplate } from '../../src/prompt/parse.ts';
import { renderTemplate } from '../../src/prompt/render.ts';
import { templateData } from '../../src/prompt/variables.ts';
import { loadAgentKinds } from '../../src/agents/registry.ts';
import { loadProviders } from '../../src/providers/registry.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createApp } from '../../src/server/routes.ts';
import { readScmFile } from '../../src/workspace/scm-file.ts';
import { readStatusFile } from '../../src/workspace/status-file.ts';
import { createFakeDaemon } from '../support/fake-daemon.ts';
import { FULL_SUBJECT } from '../support/prompt-subject.ts';
import type { Chance } from '../support/random.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { forgeTargets } from './forge-wire.ts';
import { wireTargets } from './wire.ts';

const PROVIDERS = await loadProviders();
const AGENT_KINDS = await loadAgentKinds();

/** Something that takes input from elsewhere. It may refuse an input in its own words; whatever it throws is a finding. */
export interface Target {
  readonly name: string;
  make(chance: Chance): string;
  /** Throws when the input does what no input may do. */
  take(input: string): void | Promise<void>;
}

const WORKFLOW = `---
tracker:
  kind: github
  api_key: $TOKEN
  project: acme/shop
  active_states: [ready, doing]
  terminal_states: [done]
  handoff_state: review
agent: { kind: mock, max_turns: 3, max_cost_usd: 5 }
reactions:
  ci_failure: { provider: github, max_retries: 2 }
hooks:
  after_create: |
    git clone x .
---
Work on {{ .issue.identifier }}{{ range .issue.labels }} {{ . | upper }}{{ else }}none{{ end }}
`;

/** One for all inputs, as in a service: the schemas are made once for it. */
const CONTEXT = {
  env: { TOKEN: 'secret-token-1' },
  homeDir: '/home/op',
  providers: PROVIDERS,
  agentKinds: AGENT_KINDS,
  checkTemplate: () => [],
};

const workflow: Target = {
  name: 'workflow loader',
  make: (chance) => mutateText(WORKFLOW, chance),
  take(input) {
    const { problems, settings } = readWorkflow(input, '/srv/WORKFLOW.md', CONTEXT);
    if (settings === null && problems.length === 0) throw new Error('refused without a reason');
    if (JSON.stringify(problems).includes('secret-token-1')) throw new Error('a message shows the secret');
  },
};

const TEMPLATE =
  'Fix {{ .issue.title | printf "%q" }}{{ if and .attempt (gt .attempt 1) }} again{{ else }} {{- /* c */ -}} {{ end }}{{ with .issue.parent }}{{ .id }}{{ end }}{{ range $i, $l := .issue.labels }}{{ $i }}:{{ $l }}{{ end }}';
const DATA = templateData(FULL_SUBJECT);

const template: Target = {
  name: 'template engine',
  make: (chance) => mutateText(TEMPLATE, chance),
  take(input) {
    try {
      const parsed = parseTemplate(input);
      analyseTemplate(parsed);
      renderTemplate(parsed, DATA);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
    }
  },
};

const TIME = '2026-01-02T03:04:05.006Z';

const logfmt: Target = {
  name: 'log writer',
  make: (chance) => mutateText('plain text, a="b" c=d', chance),
  take(input) {
    const line = textRecord('info', input, { title: input, [input]: 1 }, TIME);
    // oxlint-disable-next-line no-control-regex -- exactly these must not appear
    if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(line)) throw new Error('a control character in a record');
    if (!line.startsWith('level=INFO msg=') || !line.endsWith(` time=${TIME}`)) throw new Error('the record is not whole');
    const { msg } = JSON.parse(jsonRecord('info', input, { title: input }, TIME)) as { msg: string };
    if (msg !== input) throw new Error('the text came out as another');
  },
};

const silent = (): void => {};
const LOGGER = { debug: silent, info: silent, warn: silent, error: silent };

/** A workspace of this process, with a file that an agent left; every input replaces the file. */
function withFile(name: string, use: (workspace: string, root: string) => Promise<void>): (input: string) => Promise<void> {
  let root: string | null = null;
  return async (input) => {
    root ??= makeRoot();
    const workspace = path.join(root, 'A-1');
    writeFileSync(path.join(workspace, '.foray', name), input);
    await use(workspace, root);
  };
}

/** Gone when the process ends. */
function makeRoot(): string {
  const root = mkdtempSync(path.join(os.tmpdir(), 'foray-fuzz-'));
  mkdirSync(path.join(root, 'A-1', '.foray'), { recursive: true });
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  return root;
}

const status: Target = {
  name: 'status file',
  make: (chance) => mutateText('blocked\nThe API key is missing.\n', chance),
  take: withFile('status', async (workspace, root) => {
    const found = await readStatusFile(workspace, { root, logger: LOGGER, maskSecrets: (text) => text });
    if (found !== null && !['blocked', 'needs-human-review', 'no-change-needed'].includes(found.word))
      throw new Error(found.word);
  }),
};

const SCM = {
  branch: 'foray/A-1',
  sha: 'deadbeefcafe',
  pushed_at: '2026-01-01T00:00:00Z',
  pr_number: 7,
  owner: 'acme',
  repo: 'shop',
};

const scm: Target = {
  name: 'scm file',
  make: (chance) =>
    chance.happens(0.5) ? JSON.stringify(mutateJson(SCM, chance, 0.2)) : mutateText(JSON.stringify(SCM), chance),
  take: withFile('scm.json', async (workspace, root) => {
    const found = await readScmFile(workspace, { root, logger: LOGGER, maskSecrets: (text) => text });
    if (found === null) return;
    const parts = [...found.owner.split('/'), ...found.repo.split('/')];
    if (parts.some((part) => part === '' || part === '.' || part === '..')) throw new Error('a path that climbs');
  }),
};

const SECRET = 'a-secret-of-webhooks';
const daemon = createFakeDaemon();
const app = createApp(
  daemon,
  createMetrics(daemon.notices, () => daemon.snapshot()),
  { webhookSecret: SECRET },
);
const ROUTES = [
  '/',
  '/api/v1/state',
  '/api/v1/A-1',
  '/api/v2/runs?limit=5&before=9',
  '/api/v2/issues/A-1/stop',
  '/metrics',
  '/livez',
  '/hooks/github',
];

async function answers(request: Request): Promise<void> {
  const response = await app.request(request);
  if (response.status >= 500 && response.status !== 503) throw new Error(`status ${response.status}`);
  if (response.headers.get('content-security-policy') === null) throw new Error('no content security policy');
  await response.body?.cancel();
}

const http: Target = {
  name: 'HTTP routes',
  make: (chance) => `${chance.pick(['GET', 'POST', 'PUT', 'HEAD', 'OPTIONS'])} ${mutateText(chance.pick(ROUTES), chance)}`,
  async take(input) {
    const at = input.indexOf(' ');
    let url: URL;
    try {
      url = new URL(`http://127.0.0.1/${input.slice(at + 1).replace(/^\/+/, '')}`);
    } catch {
      return;
    }
    if (url.host !== '127.0.0.1') return;
    const method = input.slice(0, at);
    await answers(new Request(url, { method, headers: { host: '127.0.0.1' }, ...(method === 'POST' ? { body: input } : {}) }));
  },
};

const HOOK = { action: 'opened', issue: { number: 7, title: 'x' }, repository: { full_name: 'acme/shop' } };

const webhooks: Target = {
  name: 'webhook bodies',
  make: (chance) =>
    chance.happens(0.5) ? JSON.stringify(mutateJson(HOOK, chance, 0.2)) : mutateText(JSON.stringify(HOOK), chance),
  async take(input) {
    const body = Buffer.from(input);
    const good = createHmac('sha256', SECRET).update(body).digest('hex');
    const headers = { host: '127.0.0.1', 'x-github-event': 'issues', 'x-github-delivery': good.slice(0, 20) };
    const send = (signature: string) =>
      app.request(
        new Request('http://127.0.0.1/hooks/github', {
          method: 'POST',
          body,
          headers: { ...headers, 'x-hub-signature-256': `sha256=${signature}` },
        }),
      );
    const taken = await send(good);
    if (taken.status !== 202) throw new Error(`a signed body was answered ${taken.status}`);
    const forged = await send(good.replace(/^./, (digit) => (digit === '0' ? '1' : '0')));
    if (forged.status !== 401) throw new Error(`a forged signature was answered ${forged.status}`);
  },
};

export const TARGETS: readonly Target[] = [
  workflow,
  template,
  logfmt,
  status,
  scm,
  http,
  webhooks,
  ...wireTargets(),
  ...forgeTargets(),
];
