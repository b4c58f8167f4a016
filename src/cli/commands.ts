import type { Command } from './command.ts';
import { command as backup } from './commands/backup.ts';
import { command as completion } from './commands/completion.ts';
import { command as demo } from './commands/demo.ts';
import { command as doctor } from './commands/doctor.ts';
import { command as explain } from './commands/explain.ts';
import { command as init } from './commands/init.ts';
import { command as logs } from './commands/logs.ts';
import { command as mcp } from './commands/mcp.ts';
import { command as migrate } from './commands/migrate.ts';
import { command as pause } from './commands/pause.ts';
import { command as plan } from './commands/plan.ts';
import { command as resume } from './commands/resume.ts';
import { command as retry } from './commands/retry.ts';
import { command as run } from './commands/run.ts';
import { command as schema } from './commands/schema.ts';
import { command as stats } from './commands/stats.ts';
import { command as status } from './commands/status.ts';
import { command as stop } from './commands/stop.ts';
import { command as unpark } from './commands/unpark.ts';
import { command as validate } from './commands/validate.ts';
import { command as worker } from './commands/worker.ts';

/** Every command, in the order of help. */
export const COMMANDS: readonly Command[] = [
  run,
  demo,
  init,
  validate,
  doctor,
  plan,
  status,
  explain,
  logs,
  stats,
  stop,
  retry,
  unpark,
  pause,
  resume,
  backup,
  migrate,
  schema,
  completion,
  mcp,
  worker,
];

/** What is run when no command is named. */
export const RUN_COMMAND = run;
