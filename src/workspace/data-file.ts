import { errorText } from '../lib/error-text.ts';
import type { LogAttributes, Logger } from '../ports/runtime.ts';
import type { WorkspaceSubject } from '../ports/workspace.ts';

/** What reading a file of an agent takes. */
export interface DataFileDeps {
  readonly root: string;
  readonly logger: Logger;
  maskSecrets(text: string): string;
}

/** What is recorded of a file that is not used. */
export function ignoredFacts({ issueId, identifier }: WorkspaceSubject, workspace: string, error: unknown): LogAttributes {
  return { issue_id: issueId, issue_identifier: identifier, workspace, reason: errorText(error) };
}
