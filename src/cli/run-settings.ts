import type { LogLevel } from '../ports/runtime.ts';

/** What the command line says about a run of the service. Null leaves it to the workflow file. */
export interface RunSettings {
  readonly workflowPath: string;
  readonly port: number | null;
  /** Warnings of the workflow file count as errors. */
  readonly isStrict: boolean;
  /** How a dry run ends. */
  readonly asJson: boolean;
  readonly logLevel: LogLevel | null;
  readonly logFormat: LogFormat | null;
}

export type LogFormat = 'text' | 'json';
