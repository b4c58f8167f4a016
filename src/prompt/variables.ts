import type { Blocker, Issue } from '../domain/model/issue.ts';
import type {
  LabelCommandContext,
  MergeConflictContext,
  ReactionContext,
  ReviewCommentContext,
} from '../domain/model/reaction-context.ts';
import type { TemplateMap, TemplateValue } from './value.ts';

/** What a template can know of a value without seeing it. */
export type Shape =
  | { readonly kind: 'nil' | 'bool' | 'number' | 'string' }
  | { readonly kind: 'list'; readonly items: Alternatives }
  | { readonly kind: 'map'; readonly fields: Readonly<Record<string, Alternatives>> };

/** The shapes a value may have. Shapes are compared by identity, so each stands in the table once. */
export type Alternatives = readonly Shape[];

export const NIL: Shape = { kind: 'nil' };
export const BOOL: Shape = { kind: 'bool' };
export const NUMBER: Shape = { kind: 'number' };
export const STRING: Shape = { kind: 'string' };

const REVIEW_COMMENTS = listOf(
  mapOf({ id: [STRING], file: [STRING], start_line: [NUMBER, NIL], end_line: [NUMBER, NIL], reviewer: [STRING], body: [STRING] }),
);

/** Every variable of a prompt template with its fields. The value of `.` at the top and of `$` everywhere. */
export const ROOT = mapOf({
  issue: [
    mapOf({
      id: [STRING],
      identifier: [STRING],
      title: [STRING],
      description: [STRING],
      priority: [NUMBER, NIL],
      state: [STRING],
      branch_name: [STRING],
      url: [STRING],
      labels: [listOf(STRING)],
      assignee: [STRING],
      issue_type: [STRING],
      parent: [mapOf({ id: [STRING], identifier: [STRING] }), NIL],
      comments: [listOf(mapOf({ id: [STRING], author: [STRING], body: [STRING], created_at: [STRING] })), NIL],
      blocked_by: [listOf(mapOf({ id: [STRING], identifier: [STRING], state: [STRING], display_id: [STRING] })), NIL],
      created_at: [STRING],
      updated_at: [STRING],
    }),
  ],
  attempt: [NUMBER],
  run: [mapOf({ turn_number: [NUMBER], max_turns: [NUMBER], is_continuation: [BOOL] })],
  ci_failure: [
    mapOf({
      status: [STRING],
      check_runs: [listOf(mapOf({ name: [STRING], status: [STRING], conclusion: [STRING], details_url: [STRING] }))],
      failing_count: [NUMBER],
      log_excerpt: [STRING],
      ref: [STRING],
    }),
    NIL,
  ],
  review_comments: [REVIEW_COMMENTS, NIL],
  bot_review_comments: [REVIEW_COMMENTS, NIL],
  merge_conflict: [mapOf({ pr_number: [NUMBER], branch: [STRING], head_sha: [STRING], base: [STRING] }), NIL],
  label_command: [
    mapOf({
      command: [STRING],
      pr_number: [NUMBER],
      owner: [STRING],
      repo: [STRING],
      branch: [STRING],
      actor: [STRING],
      requested_at: [STRING],
    }),
    NIL,
  ],
});

/** The data of one rendering, of the shape of ROOT. */
export type TemplateData = TemplateMap;

export interface TemplateSubject {
  readonly issue: Issue;
  /** 0 at first. */
  readonly attempt: number;
  /** Turns count from 1. */
  readonly run: { readonly turnNumber: number; readonly maxTurns: number };
  /** Absent or null unless a reaction started the session. */
  readonly reaction?: ReactionContext | null;
}

/** What a template sees of an issue and its run. What is not known is nil or empty, never missing. */
export function templateData({ issue, attempt, run, reaction }: TemplateSubject): TemplateData {
  return {
    issue: issueData(issue),
    attempt,
    run: { turn_number: run.turnNumber, max_turns: run.maxTurns, is_continuation: run.turnNumber > 1 },
    ci_failure: ciFailureData(reaction?.ciFailure),
    review_comments: reaction?.reviewComments?.map(reviewCommentData) ?? null,
    bot_review_comments: reaction?.botReviewComments?.map(reviewCommentData) ?? null,
    merge_conflict: reaction?.mergeConflict ? mergeConflictData(reaction.mergeConflict) : null,
    label_command: reaction?.labelCommand ? labelCommandData(reaction.labelCommand) : null,
  };
}

function issueData(issue: Issue): TemplateMap {
  return {
    id: issue.id,
    identifier: issue.identifier,
    title: issue.title,
    description: issue.description,
    priority: issue.priority,
    state: issue.state,
    branch_name: issue.branchName ?? '',
    url: issue.url,
    labels: issue.labels,
    assignee: issue.assignee,
    issue_type: issue.issueType,
    parent: issue.parent ? { id: issue.parent.id, identifier: issue.parent.identifier } : null,
    comments: issue.comments?.map(({ id, author, body, createdAt }) => ({ id, author, body, created_at: createdAt })) ?? null,
    blocked_by: issue.blockedBy?.map(blockerData) ?? null,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
  };
}

function blockerData({ id, identifier, state, displayId }: Blocker): TemplateMap {
  return { id, identifier, state, display_id: displayId ?? '' };
}

function ciFailureData(failure: ReactionContext['ciFailure']): TemplateValue {
  if (!failure) return null;
  return {
    status: failure.status,
    check_runs: failure.checkRuns.map(({ name, status, conclusion, detailsUrl }) => ({
      name,
      status,
      conclusion,
      details_url: detailsUrl,
    })),
    failing_count: failure.failingCount,
    log_excerpt: failure.logExcerpt,
    ref: failure.ref,
  };
}

function reviewCommentData(comment: ReviewCommentContext): TemplateMap {
  const { id, file, startLine, endLine, reviewer, body } = comment;
  return { id, file, start_line: startLine, end_line: endLine, reviewer, body };
}

function mergeConflictData({ prNumber, branch, headSha, base }: MergeConflictContext): TemplateMap {
  return { pr_number: prNumber, branch, head_sha: headSha, base };
}

function labelCommandData({ command, prNumber, owner, repo, branch, actor, requestedAt }: LabelCommandContext): TemplateMap {
  return { command, pr_number: prNumber, owner, repo, branch, actor, requested_at: requestedAt };
}

function mapOf(fields: Readonly<Record<string, Alternatives>>): Shape & { readonly kind: 'map' } {
  return { kind: 'map', fields };
}

function listOf(item: Shape): Shape {
  return { kind: 'list', items: [item] };
}
