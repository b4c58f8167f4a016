/** Builds the command into a folder; returns the files that were made. */
export function buildCommand(options: {
  readonly outdir: string;
  readonly crashPoints?: boolean;
  readonly version?: string;
}): Promise<string[]>;
