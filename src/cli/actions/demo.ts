import type { RunningDaemon } from '../../app/daemon/daemon.ts';
import { startDemo } from '../../app/demo/demo.ts';
import { createSteadyClock } from '../../lib/steady-clock.ts';
import { createLog } from '../../lib/log.ts';
import { logOutput } from '../../lib/log-output.ts';
import { untilInterrupted } from '../until-stopped.ts';

/** Shows the service at work without any account or file. */
export async function demo(args: { readonly port: number }): Promise<number> {
  const clock = createSteadyClock();
  const logger = createLog({
    level: 'info',
    format: 'text',
    write: logOutput(),
    now: Date.now,
    mask: (text) => text,
  });
  const options = { env: { ...process.env }, version: FORAY_VERSION, port: args.port, clock, logger };
  const start = async (interrupted: AbortSignal): Promise<RunningDaemon> => {
    const running = await startDemo({ ...options, interrupted });
    process.stdout.write(`Dashboard: ${running.url ?? ''}\nMade-up issues move by themselves. Stop with Ctrl+C.\n`);
    return running;
  };
  const failure = await untilInterrupted(start, logger);
  if (failure !== null) throw failure;
  return 0;
}
