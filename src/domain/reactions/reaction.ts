import type { Draft } from '../draft.ts';
import type { MergeStatus } from '../model/merge-request.ts';
import type { ReactionContext } from '../model/reaction-context.ts';
import type { ReactionKind, ReactionSettings } from '../model/settings.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';
import type { Findings, Need } from './findings.ts';

/** All that the core knows of one reaction. Its keys in the workflow file are in config/reaction-keys.ts. */
export interface Reaction<Kind extends ReactionKind = ReactionKind> {
  /** Its key in the workflow file; also the label of its metrics and the trigger of its runs. */
  readonly kind: Kind;
  /** What it reads besides the merge status. */
  needs(settings: ReactionSettings, watch: Watch): readonly Need[];
  /** What it hands to the run it starts; null where it starts none. */
  readonly prompt: PromptVariable | null;
  /** Judges one look at an open request. */
  judge(draft: Draft, watch: Watch, look: Look): void;
  /** What a new head changes of its progress; `byUs` when a run of ours went on since the last look. */
  onNewHead?(progress: ReactionProgress<Kind>, byUs: boolean): ReactionProgress<Kind>;
}

/** The member of the context, and the variable of the prompt template that shows it. */
export interface PromptVariable {
  readonly context: keyof ReactionContext;
  readonly variable: string;
}

/** What one look at an open request brought back. */
export interface Look {
  readonly merge: MergeStatus;
  readonly findings: Findings;
}
