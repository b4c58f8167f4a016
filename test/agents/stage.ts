import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createPlayground, fileWorkflow, type Playground, type RunningDaemon } from '../support/daemon.ts';
import type { ModelApi } from './model-api.ts';
import type { Program } from './programs.ts';
import { cueLine, type ScenarioName } from './scripted-model.ts';

/** Programs take seconds to start, and a minute on a busy machine or where one has to be let pass. */
export const PATIENCE_MS = 120_000;

/** A playground for one program: its home, a workflow and one issue. */
export interface Stage {
  readonly ground: Playground;
  readonly workspace: string;
  /** Starts the daemon on one issue, whose title names the scenario. */
  play(scenario: ScenarioName, changes?: Changes): Promise<RunningDaemon>;
  /** The same with several issues at once, A-1 and on. */
  playAll(scenarios: readonly ScenarioName[], changes?: Changes): Promise<RunningDaemon>;
  /** Starts it again on what the first one left. */
  restart(): Promise<RunningDaemon>;
  /** Processes of the agent that live. */
  processes(): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface Changes {
  /** Lines for the workflow's agent block and for the block of the kind. */
  readonly agent?: readonly string[];
  readonly options?: readonly string[];
}

export interface RunView {
  readonly id: string;
  readonly status: string;
  readonly turn_count: number;
  readonly session_id: string;
  readonly model_name?: string;
  readonly tokens: Readonly<Record<'input_tokens' | 'output_tokens' | 'total_tokens' | 'cache_read_tokens', number>> | null;
  readonly error: string | null;
  readonly cost_usd: number | null;
}

export async function createStage(program: Program, api: ModelApi): Promise<Stage> {
  const ground = await createPlayground({ patienceMs: PATIENCE_MS });
  for (const [name, content] of Object.entries(program.files(api.url))) {
    await mkdir(path.dirname(ground.path(name)), { recursive: true });
    await writeFile(ground.path(name), content);
  }
  const env = { ...program.env(api.url), HTTP_PROXY: api.url, HTTPS_PROXY: api.url, NO_PROXY: '127.0.0.1,localhost' };
  const daemons: RunningDaemon[] = [];
  const start = async (): Promise<RunningDaemon> => {
    const daemon = await ground.start(['--port', '0', '--log-level', 'debug'], { env });
    daemons.push(daemon);
    return daemon;
  };
  const playAll: Stage['playAll'] = async (scenarios, { agent = ['max_turns: 1'], options = program.options } = {}) => {
    await ground.write('WORKFLOW.md', workflowFor(program, agent, options, ground.path('ws')));
    await ground.writeIssues(scenarios.map(issueFor));
    return start();
  };
  const processes = (): Promise<readonly string[]> => processesWith(`FORAY_WORKSPACE=${ground.path('ws')}/`);
  return {
    ground,
    workspace: ground.path('ws', 'A-1'),
    play: (scenario, changes) => playAll([scenario], changes),
    playAll,
    restart: start,
    processes,
    async close() {
      // The daemon first: it would start them again.
      for (const daemon of daemons) daemon.signal('SIGKILL');
      for (const pid of await processes()) killIfAlive(Number(pid));
      await ground.cleanup();
    },
  };
}

function issueFor(scenario: ScenarioName, index: number): Record<string, unknown> {
  return { id: String(index + 1), identifier: `A-${index + 1}`, title: scenario, state: 'todo' };
}

function workflowFor(program: Program, agent: readonly string[], options: readonly string[], workspaces: string): string {
  return fileWorkflow(
    {
      agent: [`kind: ${program.kind}`, `command: ${JSON.stringify(program.command)}`, ...agent].join('\n'),
      ...(options.length === 0 ? {} : { [program.kind]: options.join('\n') }),
    },
    cueLine(workspaces),
  );
}

/** The processes, not yet reaped ones aside, whose environment has an entry that starts so. */
async function processesWith(entry: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environ.split('\0').some((one) => one.startsWith(entry)) ? [pid] : [];
    }),
  );
  return found.flat();
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}

/** The runs of the one issue, oldest first. */
export async function runsOf(daemon: RunningDaemon): Promise<readonly RunView[]> {
  const { runs } = (await daemon.json('/api/v2/runs?identifier=A-1')) as { runs: RunView[] };
  return runs.toReversed();
}

/** Every text that was recorded of a run. */
export async function storyOf(daemon: RunningDaemon, run: RunView | undefined): Promise<readonly string[]> {
  const { events } = (await daemon.json(`/api/v2/runs/${run?.id}`)) as { events: { type: string; text: string }[] };
  return events.map(({ type, text }) => `${type}: ${text}`);
}
