/**
 * Where programs are started: on this machine, or on another host. The same process groups, ends and failures on both. `lib`
 * knows no ports: its own types of a process say what they promise, and are held against these where one is used as the other.
 */
export interface ProcessHost {
  start(options: ProcessStart): Promise<StartedProcess>;
  /** Looks for a program as a start would. */
  findProgram(
    program: string,
    env: Readonly<Record<string, string>>,
  ): Promise<'found' | 'missing' | 'directory' | 'not_executable'>;
}

export interface ProcessStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whom it runs as on this machine; on another host the account that is logged in to. */
  readonly user?: { readonly uid: number; readonly gid: number } | null;
  readonly stdin?: 'pipe' | 'ignore';
  readonly maxLineBytes?: number;
  readonly drainMs?: number;
  /** The process on this machine, also for a program on another. */
  readonly onSpawn?: (pid: number) => void;
  readonly onStderr?: (chunk: Buffer) => void;
}

export interface StartedProcess {
  readonly pid: number;
  readonly stdin: { write(text: string): Promise<boolean>; end(): void };
  lines(): AsyncGenerator<string, void, void>;
  chunks(): AsyncGenerator<Buffer, void, void>;
  stderrTail(): string;
  readonly exited: Promise<ProcessEnd>;
  readonly settled: Promise<ProcessEnd>;
  signal(name: NodeJS.Signals): void;
  stop(graceMs: number, signal?: NodeJS.Signals): Promise<void>;
  kill(): Promise<void>;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}
