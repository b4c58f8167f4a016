import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectories } from '../../lib/make-directories.ts';
import { DEMO_PROJECT } from './forge.ts';

export interface DemoFiles {
  readonly directory: string;
  /** Where the stand-in for a forge listens. */
  readonly forgeUrl: string;
  /** Waits are this many times as long. */
  readonly pace: number;
  /** How many issues there are; all by default. */
  readonly issues?: number | undefined;
}

/** Writes a workflow and some issues to play with. Returns the workflow's path. */
export async function writeDemo({ directory, forgeUrl, pace, issues: count = TITLES.length }: DemoFiles): Promise<string> {
  await makeDirectories(directory, 0o755);
  const now = Date.now();
  const issues = TITLES.slice(0, count).map((title, index) => ({
    id: String(index + 1),
    identifier: `DEMO-${index + 1}`,
    title,
    state: 'todo',
    priority: (index % 4) + 1,
    labels: index % 3 === 0 ? ['bug'] : ['feature'],
    created_at: new Date(now - (TITLES.length - index) * 60_000).toISOString(),
    ...(index === 3 ? { blocked_by: [{ id: '3', identifier: 'DEMO-3' }] } : {}),
  }));
  await writeFile(path.join(directory, 'issues.json'), `${JSON.stringify(issues, null, 2)}\n`);
  const workflowPath = path.join(directory, 'WORKFLOW.md');
  await writeFile(path.join(directory, 'push.mjs'), pushScript(forgeUrl));
  await writeFile(workflowPath, workflowText(directory, forgeUrl, pace));
  return workflowPath;
}

const TITLES = [
  'Login fails when the password holds a colon',
  'Export invoices as CSV',
  'Speed up the search page',
  'Show the search page in the mobile app',
  'Time zone is ignored in reminders',
  'Let admins merge duplicate accounts',
  'Upload stalls at 99 % on slow networks',
  'Add a dark theme',
  'Rename "workspace" to "project" in the settings',
  'Weekly digest is sent twice',
];

/** Stands for what agents and hooks do at the end of a run. */
function pushScript(forgeUrl: string): string {
  return `import { mkdir, writeFile } from 'node:fs/promises';

const issue = process.env.FORAY_ISSUE_IDENTIFIER;
const answer = await fetch('${forgeUrl}/push', { method: 'POST', body: issue });
await mkdir('.foray', { recursive: true });
await writeFile('.foray/scm.json', await answer.text());
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A tracker in a file, agents that only pretend, and reactions to what the stand-in for a forge says. */
function workflowText(directory: string, forgeUrl: string, pace: number): string {
  const push = `${quoted(process.execPath)} ${quoted(path.join(directory, 'push.mjs'))}`;
  const pollMs = Math.max(100, 1_000 * pace);
  return `---
tracker:
  kind: file
  active_states: [todo, in progress]
  terminal_states: [done]
  in_progress_state: in progress
  handoff_state: review
file:
  path: issues.json
polling:
  interval_ms: ${pollMs}
workspace:
  root: workspaces
hooks:
  after_run: ${JSON.stringify(push)}
agent:
  kind: mock
  max_turns: 3
  max_concurrent_agents: 3
  max_retry_backoff_ms: 15000
mock:
  model: mock-1
  turn_delay_ms: ${Math.round(2_500 * pace)}
  input_tokens_per_turn: 1800
  output_tokens_per_turn: 350
  cache_read_tokens_per_turn: 900
  outcomes_by_issue:
    DEMO-2: [completed, failed]
    DEMO-7: [failed, failed]
    DEMO-9: [completed, needs_person]
${forgeSections(forgeUrl, pollMs)}---
${PROMPT}`;
}

/** Where merge requests are, and everything that is done about them. */
function forgeSections(forgeUrl: string, pollMs: number): string {
  const often = `provider: gitea, poll_interval_ms: ${pollMs}`;
  return `gitea:
  endpoint: ${forgeUrl}
  api_key: example
  project: ${DEMO_PROJECT.owner}/${DEMO_PROJECT.repo}
reactions:
  projects: [${DEMO_PROJECT.owner}/${DEMO_PROJECT.repo}]
  ci_failure: { ${often} }
  review_comments: { ${often}, debounce_ms: 0 }
  auto_merge: { ${often}, strategy: squash, ci_grace_ms: 0 }
  merge_completion: { ${often}, target_state: done }
`;
}

const PROMPT = `Work on {{ .issue.identifier }}: {{ .issue.title }}.
{{- if .ci_failure }}
The checks failed: {{ .ci_failure.log_excerpt }}
{{- end }}
{{- range .review_comments }}
{{ .reviewer }} asks: {{ .body }}
{{- end }}
`;
