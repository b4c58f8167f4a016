import { WorkspaceError } from '../../domain/model/errors.ts';
import type { ProcessHost } from '../../ports/process.ts';
import { errorText } from '../../lib/error-text.ts';

/** A host that workspaces are on. */
export interface FarHost extends Pick<ProcessHost, 'start'> {
  readonly name: string;
}

export interface FarScript {
  readonly text: string;
  readonly args: readonly string[];
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;
const LAST_WORDS = 400;
const MOST_OUTPUT = 8 * 1024 * 1024;

/** Runs one of our own scripts on a host and gives what it printed. Whatever goes wrong is a WorkspaceError. */
export async function runFar(host: FarHost, script: FarScript, signal: AbortSignal): Promise<string> {
  const { text, args, timeoutMs = TIMEOUT_MS } = script;
  signal.throwIfAborted();
  const child = await host.start({ command: 'sh', args: ['-c', text, 'sh', ...args], cwd: '/', env: {} });
  const late = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const end = (): void => void child.kill();
  late.addEventListener('abort', end, { once: true });
  if (late.aborted) end();
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of child.chunks()) if ((size += chunk.length) <= MOST_OUTPUT) chunks.push(chunk);
    const { code } = await child.settled;
    signal.throwIfAborted();
    if (late.aborted) throw failed(host, `no answer within ${timeoutMs / 1_000} s`);
    if (code === 0) return Buffer.concat(chunks).toString('utf8');
    throw failed(host, MEANINGS[code ?? -1] ?? (child.stderrTail().trim().slice(-LAST_WORDS) || `exit status ${code}`));
  } finally {
    late.removeEventListener('abort', end);
  }
}

/** What the exit codes of scripts.ts say. */
const MEANINGS: Readonly<Record<number, string>> = {
  3: 'the root of the workspaces cannot be made there, see worker.ssh_root',
  4: 'the root of the workspaces cannot be written there, see worker.ssh_root',
  5: 'a workspace could not be deleted there',
  6: 'the workspace is no directory there; remove what stands in its place by hand',
  7: 'its folder .foray is no directory; remove what stands in its place by hand',
  8: 'the folder .foray-marks of the root is no directory there; remove what stands in its place by hand',
  9: 'the folder .foray-removed of the root is no directory there; remove what stands in its place by hand',
  10: 'what an earlier run left running in the workspace does not end there; end it by hand',
};

function failed(host: FarHost, why: string): WorkspaceError {
  return new WorkspaceError(`on ${host.name}`, why, { retryable: true });
}

/** What else stands in the way may work out next time. */
export async function asWorkspaceError<T>(host: FarHost, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WorkspaceError) throw error;
    const why = errorText(error);
    throw new WorkspaceError(`on ${host.name}`, why, { retryable: true, cause: error });
  }
}
