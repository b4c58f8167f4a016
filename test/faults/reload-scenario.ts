import { chmod, rename } from 'node:fs/promises';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';
import type { OpenScenario, Scenario } from './crash-matrix.ts';

const STATES = 'terminal_states: [done]\nhandoff_state: review\ncomments: { on_completion: true }';

/**
 * Plays Claude Code: writes down what it is told, and works on the first issue until another one was begun, which only an
 * edit allows. So its turn outlives the edit.
 */
const AGENT = `#!${process.execPath}
const { appendFileSync, existsSync } = require('node:fs');
const issue = require('node:path').basename(process.cwd());
const note = (name) => process.env.HOME + '/told-' + name;
let prompt = '';
process.stdin.on('data', (chunk) => (prompt += chunk));
process.stdin.on('end', () => {
  appendFileSync(note(issue), JSON.stringify(prompt) + '\\n');
  const wait = setInterval(() => {
    if (issue === 'A-1' && !existsSync(note('A-2'))) return;
    clearInterval(wait);
    const say = (value) => console.log(JSON.stringify(value));
    const session_id = '00000000-0000-4000-8000-000000000000';
    say({ type: 'system', subtype: 'init', session_id, model: 'm', tools: [], mcp_servers: [] });
    say({ type: 'assistant', session_id, message: { id: 'm1', model: 'm', content: [{ type: 'text', text: 'done' }], usage: { input_tokens: 1, output_tokens: 1 } } });
    say({ type: 'result', subtype: 'success', is_error: false, session_id, result: 'done', usage: { input_tokens: 1, output_tokens: 1 } });
  }, 20);
});
`;

/** An edit while an issue runs: its prompt and its states lead to a second issue, which nobody takes up before. */
export const reload: Scenario = {
  name: 'reload',
  bounded: ['before the edit is in force', 'after the edit is in force'],
  async open(cli) {
    const stage = await openStage(cli);
    await stage.put('issues.json', [ISSUES.first('todo'), ISSUES.second('later')]);
    await stage.edit({ active: 'todo', body: 'As it was.' });
    const issueAt = (index: number) => stage.issue('issues.json', index);
    return {
      ...stage,
      async play() {
        await stage.begun('A-1');
        await stage.edit({ active: 'todo, later', body: 'Edited.' });
        await stage.told(() => issueAt(1));
        await stage.told(() => issueAt(0));
      },
      faults: async () => [
        ...(await stage.faultsOf([await issueAt(0), await issueAt(1)])),
        ...((await stage.prompts('A-2')).every((prompt) => prompt.includes('Edited.'))
          ? []
          : ['the edited prompt was not in force']),
      ],
    };
  },
};

/** An edit to another tracker while an issue of the first one runs, and back again. */
export const anotherTracker: Scenario = {
  name: 'another tracker',
  bounded: ['after entering tracker 2'],
  async open(cli) {
    const stage = await openStage(cli);
    await stage.put('issues.json', [ISSUES.first('todo')]);
    await stage.put('others.json', [ISSUES.second('todo')]);
    await stage.edit({});
    const first = () => stage.issue('issues.json', 0);
    const other = () => stage.issue('others.json', 0);
    return {
      ...stage,
      async play() {
        await stage.begun('A-1');
        await stage.edit({ file: 'others.json' });
        await stage.told(other);
        await stage.edit({});
        await stage.told(first);
      },
      faults: async () => stage.faultsOf([await first(), await other()]),
    };
  },
};

const ISSUES = {
  first: (state: string) => ({ id: '1', identifier: 'A-1', title: 'First', state }),
  second: (state: string) => ({ id: '2', identifier: 'A-2', title: 'Second', state }),
};

type FileIssue = Readonly<Record<string, unknown>>;

interface ReloadStage extends Pick<OpenScenario, 'ground' | 'env' | 'close'> {
  put(file: string, issues: readonly FileIssue[]): Promise<void>;
  issue(file: string, index: number): Promise<FileIssue>;
  /** As editors save: a daemon that starts meanwhile finds the old file or the new one, never half of it. */
  edit(words: { readonly active?: string; readonly file?: string; readonly body?: string }): Promise<void>;
  /** The agent was told of the issue. */
  begun(identifier: string): Promise<void>;
  prompts(identifier: string): Promise<readonly string[]>;
  /** The issue was handed off, and the comment is there that tells so. */
  told(look: () => Promise<FileIssue>): Promise<void>;
  faultsOf(issues: readonly FileIssue[]): Promise<readonly string[]>;
}

async function openStage(cli: string): Promise<ReloadStage> {
  const ground: Playground = await createPlayground({ cli });
  await chmod(await ground.write('agent.cjs', AGENT), 0o755);
  const prompts = async (identifier: string): Promise<readonly string[]> =>
    (await ground.read(`told-${identifier}`).catch(() => '')).split('\n').filter(Boolean);
  return {
    ground,
    env: {},
    close: () => ground.cleanup(),
    prompts,
    put: async (file, issues) => void (await ground.write(file, JSON.stringify(issues))),
    issue: async (file, index) => (JSON.parse(await ground.read(file)) as FileIssue[])[index] ?? {},
    async edit({ active = 'todo', file = 'issues.json', body = 'Work on it.' }) {
      const sections = {
        tracker: `kind: file\nactive_states: [${active}]\n${STATES}`,
        file: `path: ${file}`,
        agent: `kind: claude-code\ncommand: [${ground.path('agent.cjs')}]\nmax_turns: 1\nmax_retry_backoff_ms: 100`,
      };
      await rename(await ground.write('WORKFLOW.next', fileWorkflow(sections, body)), ground.path('WORKFLOW.md'));
    },
    begun: async (identifier) =>
      void (await eventually(
        () => prompts(identifier),
        (found) => found.length > 0,
        `the start of ${identifier}`,
      )),
    told: async (look) =>
      void (await eventually(
        look,
        (issue) => issue['state'] === 'review' && commentsOf(issue).length > 0,
        'the handoff and its comment',
      )),
    faultsOf: async (issues) =>
      issues.flatMap((issue) => [
        ...(issue['state'] === 'review' ? [] : [`${String(issue['identifier'])} ended as ${String(issue['state'])}`]),
        ...(commentsOf(issue).length === 1 ? [] : [`${commentsOf(issue).length} comments instead of one`]),
      ]),
  };
}

function commentsOf(issue: FileIssue): readonly unknown[] {
  return (issue['comments'] as readonly unknown[] | undefined) ?? [];
}
