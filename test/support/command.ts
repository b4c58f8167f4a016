import { vi } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the table in this process, which costs a hundredth of a process of its own. */
export async function runHere(...argv: readonly string[]): Promise<Said> {
  const said = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text: string | Uint8Array) => {
      said[name] += String(text);
      return true;
    }),
  );
  try {
    return { code: await runCommandLine(argv), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
