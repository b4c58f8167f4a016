/** Reads the CI of a commit for the CI-failure reaction. Building it makes no request. Failures are TrackerErrors. */
export interface CiProvider {
  readonly kind: string;
  readCi(request: CiRequest, signal: AbortSignal): Promise<CiReport>;
}

export interface CiRequest {
  readonly owner: string;
  readonly repo: string;
  /** A branch or a commit. */
  readonly ref: string;
  /** 0 or less: no log excerpt. */
  readonly maxLogLines: number;
}

export interface CiReport {
  readonly status: 'success' | 'failing' | 'pending';
  /** Empty when the commit has none; then the status is pending. */
  readonly checkRuns: readonly CheckRun[];
  readonly failingCount: number;
  /** Empty unless failing and an excerpt was asked for and found. */
  readonly logExcerpt: string;
  /** The ref as it was asked for. */
  readonly ref: string;
}

export interface CheckRun {
  readonly name: string;
  readonly status: 'queued' | 'in progress' | 'completed';
  readonly conclusion: 'success' | 'failure' | 'neutral' | 'cancelled' | 'skipped' | 'pending';
  readonly detailsUrl: string;
}
