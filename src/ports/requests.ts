import type { RepoKey } from './scm.ts';

/** Opens merge requests for branches we pushed. Building it makes no request. Failures are TrackerErrors. */
export interface RequestOpener {
  readonly kind: string;
  /** The open request whose source is this branch of the project itself, never of a fork; null when there is none. */
  find(source: RequestSource, signal: AbortSignal): Promise<OpenRequest | null>;
  open(request: NewRequest, signal: AbortSignal): Promise<OpenRequest>;
}

export interface RequestSource extends RepoKey {
  readonly branch: string;
}

export interface NewRequest extends RequestSource {
  readonly base: string;
  readonly title: string;
  readonly body: string;
}

export interface OpenRequest {
  readonly number: number;
  readonly url: string;
}
