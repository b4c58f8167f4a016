import type { Draft } from '../draft.ts';
import type { Findings, Need } from '../model/findings.ts';
import type { MergeStatus } from '../model/merge-request.ts';
import type { ReactionContext, ReactionKind } from '../model/reaction.ts';
import type { ReactionSettings, Trust } from '../model/settings.ts';
import type { CamelCase, DataFields, DataShape, ValueOf } from '../model/data-shape.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';

export const DAY_MS = 86_400_000;

/** One reaction: what is declared of it, and what it does. */
export type Reaction<D extends Declaration = Declaration> = D & Behaviour<D>;

/** What a reaction is, as data. The workflow file, the settings, the store, the metrics and the prompt are made of it. */
export interface Declaration {
  /** Its key in the workflow file; also the label of its metrics and the trigger of its runs. */
  readonly kind: string;
  /** What it is for, in the JSON Schema of the workflow file. */
  readonly about: string;
  readonly defaults: ReactionDefaults;
  /** The keys it alone has in the workflow file. */
  readonly keys: Readonly<Record<string, ReactionKey>>;
  /** What it remembers of what it did with a request: the fields of each of its states. */
  readonly marks: Readonly<Record<string, DataFields>>;
  /** What it hands to the run it starts; null where it starts none. */
  readonly prompt: PromptVariable | null;
}

export interface ReactionDefaults {
  readonly pollIntervalMs: number;
  /** 0 watches without end. */
  readonly watchWindowMs: number;
  /** Turns or tries before a person is asked. */
  readonly budget: number;
  /** The key of the budget besides `max_retries`. */
  readonly budgetKey?: 'max_continuation_turns';
}

/** One key of the workflow file. */
export type ReactionKey = {
  readonly about: string;
  /** May also stand in the provider's own block; what the reaction says wins. */
  readonly inBlock?: true;
  /** What of the tracker its text names. */
  readonly names?: 'state' | 'label';
} & (
  | { readonly type: 'text' | 'filled text'; readonly default: string }
  | { readonly type: 'texts'; readonly default: readonly string[] }
  | { readonly type: 'flag'; readonly default: boolean }
  | { readonly type: 'number' | 'milliseconds'; readonly min: number; readonly default: number }
  | { readonly type: 'choice'; readonly of: readonly [string, ...string[]]; readonly default: string }
  /** By default that of the provider. */
  | { readonly type: 'trust' }
);

/** What a key amounts to. */
export type KeyValue<K> = K extends { readonly type: 'choice'; readonly of: readonly (infer Choice)[] }
  ? Choice
  : K extends { readonly type: 'trust' }
    ? Trust
    : K extends { readonly type: 'flag' }
      ? boolean
      : K extends { readonly type: 'texts' }
        ? readonly string[]
        : K extends { readonly type: 'number' | 'milliseconds' }
          ? number
          : string;

/** The settings that keys amount to. */
export type KeysOf<Keys> = { readonly [K in keyof Keys as CamelCase<K & string>]: KeyValue<Keys[K]> };

/** Any of the marks, told apart by `at`. */
export type MarksOf<Marks> = { [At in keyof Marks]: { readonly at: At } & ValueOf<Marks[At]> }[keyof Marks];

/** The variable of the prompt template, and what the prompt of a workflow file without a body says of it. */
export interface PromptVariable {
  readonly variable: string;
  readonly shape: DataShape;
  readonly paragraph: string;
}

interface Behaviour<D extends Declaration> {
  /** What it reads besides the merge status. */
  needs(settings: ReactionSettings, watch: Watch): readonly Need[];
  /** Judges one look at an open request. */
  judge(draft: Draft, watch: Watch, look: Look): void;
  /** What is left of a queued turn by this look, where people may take back what they asked for; null when nothing is. */
  renew?(draft: Draft, watch: Watch, look: Look, queued: ReactionContext): ReactionContext | 'unread' | null;
  /** A queued turn begins: what it was queued for is noted as done. */
  onTurnBegun?(draft: Draft, watch: Watch, queued: ReactionContext): void;
  /** What a new head changes of its progress; `byUs` when a run of ours went on since the last look. */
  onNewHead?(progress: Progress<D>, byUs: boolean): Progress<D>;
  /** What the end of a run of ours makes of its mark, where the same head may be judged once more. */
  onRunEnded?(mark: Progress<D>['mark']): Progress<D>['mark'];
  /** What a turn that began and ended with its issue parked makes of its mark: whoever releases the issue wants it done. */
  onTurnParked?(mark: Progress<D>['mark'], turn: ReactionContext): Progress<D>['mark'];
  /** Its mark stays when a person gives back its budget: what was given to a run stays given. */
  readonly keepsMark?: true;
}

type Progress<D extends Declaration> = ReactionProgress<D['kind'] & ReactionKind>;

/** What one look at an open request brought back. */
export interface Look {
  readonly merge: MergeStatus;
  readonly findings: Findings;
}
