/** One thing that was looked at. The names are those of the JSON answer. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'error' | 'fixed';
  readonly message: string;
  readonly remedy: string | null;
  /** Where it is in the workflow file, of what is wrong with that file. */
  readonly file?: string;
  readonly line?: number | null;
  readonly column?: number | null;
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message, remedy: null };
}

export function finding(status: 'warning' | 'error', check: string, message: string, remedy: string): Finding {
  return { check, status, message, remedy };
}
