/** What a person may ask of the service, from a command or over HTTP. */
export type OperatorRequest =
  | { readonly kind: IssueRequestKind; readonly identifier: string }
  | { readonly kind: 'pause'; readonly reason: string }
  | { readonly kind: 'resume' };

export const ISSUE_REQUEST_KINDS = ['stop', 'retry', 'unpark'] as const;
export type IssueRequestKind = (typeof ISSUE_REQUEST_KINDS)[number];

/** A request as it waits in the store. */
export interface AskedRequest {
  readonly id: string;
  readonly request: OperatorRequest;
  /** Whose issue it is about; empty where the whole service is meant, or the one that is watched. */
  readonly tracker: string;
  /** For people: who asked, and by which way. */
  readonly by: string;
  /** Whether the issue it names has been worked on before, whatever became of it. */
  readonly hasRuns: boolean;
}

/** What became of a request: carried out, senseless at this moment, or about an issue nobody has heard of. */
export interface OperatorAnswer {
  readonly outcome: 'taken' | 'refused' | 'unknown';
  /** For people, a whole sentence. */
  readonly message: string;
}

/** While it is set, no session is started. Durable. */
export interface OperatorPause {
  readonly reason: string;
  readonly by: string;
  readonly since: number;
}
