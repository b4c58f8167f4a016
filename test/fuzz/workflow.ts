import { loadAgentKinds } from '../../src/agents/registry.ts';
import { parse } from 'yaml';
import { isPlainMap } from '../../src/config/document.ts';
import { settingsFrom } from '../../src/config/read-settings.ts';
import { maskCollected } from '../../src/config/secrets.ts';
import { readWorkflow } from '../../src/config/workflow.ts';
import { loadProviders } from '../../src/providers/registry.ts';
import type { Chance } from '../support/random.ts';
import { mutateJson, mutateText } from './mutate.ts';
import type { Target } from './target.ts';

const STATES = '  active_states: [ready, doing]\n  terminal_states: [done]\n  handoff_state: review\n';
const trackerOf = (kind: string, project: string): string =>
  `tracker:\n  kind: ${kind}\n  api_key: $TOKEN\n  project: ${project}\n${STATES}`;

const TRACKERS = [
  trackerOf('github', 'acme/shop'),
  trackerOf('nsproject', 'acme/shop'),
  `${trackerOf('gitea', 'acme/shop')}  endpoint: https://git.test\n  authors: [ann]\n`,
  `${trackerOf('jira', 'ABC')}  endpoint: https://x.atlassian.net\n  query_filter: 'a = "b"'\n`,
  `${trackerOf('linear', 'ENG')}  comments: { on_dispatch: true }\n`,
  `tracker:\n  kind: file\n${STATES}file:\n  path: issues.json\n`,
];

/** Every section; a file has some of them. */
const SECTIONS = [
  'agent: { kind: mock, max_turns: 3, max_cost_usd: 5, command: [a, b] }\nmock: { turn_delay_ms: 5 }\n',
  'agent:\n  kind: claude-code\n  evidence: changes\n  max_concurrent_agents_by_state: { ready: 2 }\n  run_on: [gpu]\n',
  'polling: { interval_ms: "500" }\nlogging: { level: debug, format: json }\n',
  'reactions:\n  ci_failure: { provider: github, max_retries: 2 }\n  projects: [acme/shop]\n',
  'reactions:\n  auto_merge: { provider: github, strategy: squash }\n  review_comments: { provider: github, trust: anyone }\n',
  'hooks:\n  after_create: |\n    git clone x .\n  timeout_ms: 10\n',
  'workspace: { root: ~/ws, repo: "https://git.test/a/b.git", repo_token: $TOKEN, push: false }\n',
  'server:\n  port: 0\n  host: 0.0.0.0\n  token: $TOKEN\n  allowed_hosts: [foray.test]\n  webhooks: { secret: $TOKEN }\n',
  'worker: { ssh_hosts: [one, two], ssh_env: [LANG] }\nstore:\n  url: postgres://a:$TOKEN@db.test/foray\n',
  'notifications:\n  - { url: $TOKEN, on: [failed, parked] }\ndb_path: x.db\ndb_retention_days: 5\n',
  'self_review: { enabled: true, verification_commands: [npm test] }\ntoken_rates: { mock: { input_per_mtok: 1.5 } }\n',
];

const BODY = 'Work on {{ .issue.identifier }}{{ range .issue.labels }} {{ . | upper }}{{ else }}none{{ end }}\n';

function frontMatter(chance: Chance): string {
  const sections = new Set(Array.from({ length: 1 + chance.below(2) }, () => chance.pick(SECTIONS)));
  return chance.pick(TRACKERS) + [...sections].join('');
}

/** The same as values. */
const VALUES = TRACKERS.flatMap((tracker) => SECTIONS.map((section): unknown => parse(tracker + section) as unknown));
const VALUE_MARK = 'value ';
/** So many of the inputs are whole files; the others begin where the YAML has been read, which takes half of the time. */
const FILES = 0.25;

/** One for all inputs, as in a service: the schemas are made once for it. */
const CONTEXT = {
  env: { TOKEN: 'secret-token-1' },
  homeDir: '/home/op',
  providers: await loadProviders(),
  agentKinds: await loadAgentKinds(),
  checkTemplate: () => [],
};

/** Nobody asks where a value stands that stood nowhere. */
const NOWHERE = { data: null, problems: [], positionOf: () => null };
const WORKFLOW_PATH = '/srv/WORKFLOW.md';

export const workflow: Target = {
  name: 'workflow loader',
  make: (chance) =>
    chance.happens(FILES)
      ? mutateText(`---\n${frontMatter(chance)}---\n${BODY}`, chance)
      : `${VALUE_MARK}${JSON.stringify(mutateJson(chance.pick(VALUES), chance))}`,
  take(input) {
    const { problems, settings } = input.startsWith(VALUE_MARK)
      ? readValue(input.slice(VALUE_MARK.length))
      : readWorkflow(input, WORKFLOW_PATH, CONTEXT);
    if (settings === null && problems.length === 0) throw new Error('refused without a reason');
    if (JSON.stringify(problems).includes('secret-token-1')) throw new Error('a message shows the secret');
  },
};

function readValue(json: string): Pick<ReturnType<typeof settingsFrom>, 'problems' | 'settings'> {
  const data: unknown = JSON.parse(json);
  // What is no map is refused before.
  if (!isPlainMap(data)) return { problems: [{ severity: 'error', check: '', message: '' }], settings: null };
  const read = settingsFrom(data, NOWHERE, { ...CONTEXT, workflowPath: WORKFLOW_PATH });
  return {
    settings: read.settings,
    problems: read.problems.map((one) => ({ ...one, message: maskCollected(one.message, read.secrets) })),
  };
}
