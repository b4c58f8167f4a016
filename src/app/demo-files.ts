import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Writes a workflow and some issues to play with. Returns the workflow's path. */
export async function writeDemo(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  const now = Date.now();
  const issues = TITLES.map((title, index) => ({
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
  await writeFile(workflowPath, WORKFLOW);
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

const WORKFLOW = `---
tracker:
  kind: file
  active_states: [todo, in progress]
  terminal_states: [done]
  in_progress_state: in progress
  handoff_state: review
file:
  path: issues.json
polling:
  interval_ms: 1000
workspace:
  root: workspaces
agent:
  kind: mock
  max_turns: 4
  max_concurrent_agents: 3
  max_retry_backoff_ms: 15000
mock:
  model: mock-1
  turn_delay_ms: 2500
  input_tokens_per_turn: 1800
  output_tokens_per_turn: 350
  cache_read_tokens_per_turn: 900
  outcomes_by_issue:
    DEMO-2: [completed, failed]
    DEMO-7: [failed, failed]
    DEMO-9: [completed, needs_person]
---
Work on {{ .issue.identifier }}: {{ .issue.title }}.
`;
