import type { CiReport } from '../domain/model/merge-request.ts';

/** Reads the CI of a commit for the CI-failure reaction. Building it makes no request. Failures are TrackerErrors. */
export interface CiProvider {
  readonly kind: string;
  readCi(request: CiRequest, signal: AbortSignal): Promise<CiReport>;
}

export interface CiRequest {
  readonly owner: string;
  readonly repo: string;
  /** The id of the project, where the kind has one and it is known. */
  readonly projectId?: string;
  /** A branch or a commit. */
  readonly ref: string;
  /** 0 or less: no log excerpt. */
  readonly maxLogLines: number;
}

export type { CheckRun, CiReport } from '../domain/model/merge-request.ts';
