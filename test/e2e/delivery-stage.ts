import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { createPlayground, type Playground, type RunningDaemon } from '../support/daemon.ts';
import { startGitServer, type GitServer } from '../support/git/http-backend.ts';
import type { RecordedRequest } from '../support/http-server.ts';
import { buildForge, forgeEnv, forgeWorkflow, type Forge } from './reactions/forge.ts';
import { createOrigin, type Origin } from './reactions/origin.ts';

/** A forge whose repository is served by a real git server. */
export interface DeliveryStage {
  readonly ground: Playground;
  readonly forge: Forge;
  readonly origin: Origin;
  readonly server: GitServer;
  /** The workflow file of a daemon that delivers there; the script stands for what an agent does. */
  write(work: string, sections?: Readonly<Record<string, string>>): Promise<void>;
  /** Writes it and starts the daemon. */
  start(work: string, sections?: Readonly<Record<string, string>>): Promise<RunningDaemon>;
  /** Requests that were opened, however often. */
  opened(): readonly RecordedRequest[];
  close(): Promise<void>;
}

export async function openDelivery(kind: string, options: { cli?: string; patienceMs?: number } = {}): Promise<DeliveryStage> {
  const ground = await createPlayground(options);
  const forge = await buildForge(kind);
  const origin = await createOrigin(ground, forge.front.url);
  await origin.git('origin.git', 'config', 'http.receivepack', 'true');
  const served = ground.path('served', `${forge.project}.git`);
  await mkdir(path.dirname(served), { recursive: true });
  await symlink(origin.path, served);
  const server = await startGitServer({ root: ground.path('served'), token: forge.token });
  const write = async (work: string, sections: Readonly<Record<string, string>> = {}): Promise<void> => {
    const all = {
      workspace: `root: ws\nrepo: ${server.origin}/${forge.project}.git`,
      hooks: `before_run: ${JSON.stringify(work)}`,
      reactions: `merge_completion: { provider: ${forge.kind}, target_state: done, poll_interval_ms: 200 }`,
      ...sections,
    };
    await ground.write('WORKFLOW.md', forgeWorkflow(forge, all));
  };
  return {
    ground,
    forge,
    origin,
    server,
    write,
    async start(work, sections) {
      await write(work, sections);
      return ground.start(['--port', '0'], { env: forgeEnv(forge) });
    },
    opened: () =>
      forge.front.requests.filter(({ method, path: at }) => method === 'POST' && /\/(pulls|merge_requests)$/.test(at)),
    async close() {
      await server.close();
      await ground.cleanup();
      await forge.close();
    },
  };
}
