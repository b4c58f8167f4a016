import type { KeysOf, MarksOf, PromptVariable } from '../reactions/reaction.ts';
import type { REACTIONS } from '../reactions/registry.ts';
import type { CamelCase, ValueOf } from './data-shape.ts';

/** What the rest of the domain calls the reactions and their parts. All of it follows from what each declares of itself. */
type Registered = (typeof REACTIONS)[number];

export type ReactionKind = Registered['kind'];

export type Escalation = 'label' | 'comment' | 'none';

/** What the workflow file says of every reaction. */
export interface ReactionBase {
  readonly pollIntervalMs: number;
  /** 0 watches without end. */
  readonly watchWindowMs: number;
  /** How many turns (or merge tries) before a person is asked. */
  readonly budget: number;
  readonly escalation: Escalation;
  readonly escalationLabel: string;
}

/** What each is told by the workflow file. */
export type ReactionOptions = { readonly [R in Registered as R['kind']]: ReactionBase & KeysOf<R['keys']> };

/** Nothing has been acted upon yet. */
export const NO_MARK = { at: 'none' } as const;

/** What each remembers of what it did. */
export type ReactionMarks = { readonly [R in Registered as R['kind']]: typeof NO_MARK | MarksOf<R['marks']> };

type Prompting = Extract<Registered, { readonly prompt: PromptVariable }>;

/** Those that start runs. */
export type TurnKind = Prompting['kind'];

/**
 * What a reaction hands to the run it starts. At most the member of the reaction that fired is set; the others stay away and
 * read as nil in the prompt template.
 */
export type ReactionContext = {
  readonly [R in Prompting as CamelCase<R['prompt']['variable']>]?: ValueOf<R['prompt']['shape']>;
};
