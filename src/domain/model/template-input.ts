import type { Issue } from './issue.ts';
import type { ReactionContext } from './reaction.ts';

/** What the prompt of one turn is made from. */
export interface TemplateInput {
  readonly issue: Issue;
  readonly attempt: number;
  readonly run: { readonly turnNumber: number; readonly maxTurns: number };
  readonly reaction: ReactionContext | null;
  /** Whether the session can call the tools of this service. */
  readonly hasTools: boolean;
}
