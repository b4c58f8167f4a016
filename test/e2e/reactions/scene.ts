import type { TestContext } from 'vitest';
import { createPlayground, eventually, type LogRecord, type Playground, type RunningDaemon } from '../../support/daemon.ts';
import { buildForge, forgeEnv, forgeWorkflow, type Forge } from './forge.ts';
import { waitsOf } from './told.ts';

/** A forge with one issue, and a daemon that works on it. */
export interface Scene {
  readonly ground: Playground;
  readonly forge: Forge;
  /** Of the issue. */
  readonly id: string;
  daemon(): RunningDaemon;
  /** Starts the daemon on a workflow with these sections. */
  start(sections?: Sections, body?: string): Promise<RunningDaemon>;
  /** Starts it and waits until the first run is handed off and its merge request is watched. */
  begin(sections?: Sections, body?: string): Promise<RunningDaemon>;
  /** Kills the daemon as nothing can be caught, and starts another one on the same workflow. */
  kill(): Promise<RunningDaemon>;
  /** As a person does who wants another try. */
  unpark(): Promise<void>;
  /** Until a reaction waits for this. */
  waiting(reaction: string, what: string | RegExp): Promise<void>;
  told(msg: string): readonly LogRecord[];
}

type Sections = Readonly<Record<string, string>>;

/** Everything of it ends with the test. */
export async function openScene(kind: string, { onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<Scene> {
  const ground = await createPlayground();
  const forge = await buildForge(kind);
  onTestFinished(async () => {
    await ground.cleanup();
    await forge.close();
  });
  let daemon: RunningDaemon | null = null;
  const current = (): RunningDaemon => {
    if (!daemon) throw new Error('no daemon runs yet');
    return daemon;
  };
  const launch = async (): Promise<RunningDaemon> => (daemon = await ground.start(['--port', '0'], { env: forgeEnv(forge) }));
  const scene: Scene = {
    ground,
    forge,
    id: forge.addIssue('Fix the "rocket" & go'),
    daemon: current,
    async start(sections, body) {
      await ground.write('WORKFLOW.md', forgeWorkflow(forge, sections, body));
      return launch();
    },
    async begin(sections, body) {
      await scene.start(sections, body);
      await current().record('merge request watched');
      await current().record('handoff transition succeeded, releasing claim');
      return current();
    },
    async kill() {
      current().signal('SIGKILL');
      await current().exited;
      return launch();
    },
    async unpark() {
      const { code, stderr } = await ground.run(['unpark', '1'], { env: forgeEnv(forge) });
      if (code !== 0) throw new Error(`unpark failed: ${stderr}`);
    },
    async waiting(reaction, what) {
      const fits = (text: string): boolean => (typeof what === 'string' ? text === what : what.test(text));
      await eventually(
        () => waitsOf(current()),
        (waits) => fits(waits[reaction] ?? ''),
        `${reaction} waiting for ${String(what)}`,
      );
    },
    told: (msg) =>
      current()
        .records()
        .filter((entry) => entry['msg'] === msg),
  };
  return scene;
}
