import { z } from 'zod';
import type {
  CheckRunContext,
  CiFailureContext,
  LabelCommandContext,
  MergeConflictContext,
  ReactionContext,
  ReviewCommentContext,
} from '../../domain/model/reaction-context.ts';
import { schemaOf } from './json-column.ts';

const CheckRun = schemaOf<CheckRunContext>()({
  name: z.string(),
  status: z.string(),
  conclusion: z.string(),
  detailsUrl: z.string(),
});

const CiFailure = schemaOf<CiFailureContext>()({
  status: z.string(),
  checkRuns: z.array(CheckRun).readonly(),
  failingCount: z.number(),
  logExcerpt: z.string(),
  ref: z.string(),
});

const ReviewComment = schemaOf<ReviewCommentContext>()({
  id: z.string(),
  file: z.string(),
  startLine: z.number().nullable(),
  endLine: z.number().nullable(),
  reviewer: z.string(),
  body: z.string(),
});

const MergeConflict = schemaOf<MergeConflictContext>()({
  prNumber: z.number(),
  branch: z.string(),
  headSha: z.string(),
  base: z.string(),
});

const LabelCommand = schemaOf<LabelCommandContext>()({
  command: z.string(),
  prNumber: z.number(),
  owner: z.string(),
  repo: z.string(),
  branch: z.string(),
  actor: z.string(),
  requestedAt: z.string(),
});

/** What a claim keeps of a reaction. */
export const ReactionContextSchema = schemaOf<ReactionContext>()({
  ciFailure: CiFailure.optional(),
  reviewComments: z.array(ReviewComment).readonly().optional(),
  botReviewComments: z.array(ReviewComment).readonly().optional(),
  mergeConflict: MergeConflict.optional(),
  labelCommand: LabelCommand.optional(),
});
