import { createSteadyClock } from '../lib/steady-clock.ts';
import { startDemo } from '../app/demo.ts';
import { createLog } from '../lib/log.ts';
import { logOutput } from '../lib/log-output.ts';
import { onSignals } from './signals.ts';

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
  const running = await startDemo({ env: { ...process.env }, version: FORAY_VERSION, port: args.port, clock, logger });
  process.stdout.write(`Dashboard: ${running.url ?? ''}\nMade-up issues move by themselves. Stop with Ctrl+C.\n`);
  const signals = onSignals({
    stop: () => running.stop(),
    force(_signal, code) {
      running.kill();
      process.exit(code);
    },
  });
  await running.done;
  signals.release();
  return 0;
}
