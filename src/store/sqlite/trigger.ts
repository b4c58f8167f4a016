import { z } from 'zod';
import type { Trigger } from '../../domain/model/run.ts';

/** Why a run was started; `satisfies` keeps the list complete. */
export const TriggerSchema = z.enum({
  fresh: 'fresh',
  error: 'error',
  continuation: 'continuation',
  restart: 'restart',
  ci_failure: 'ci_failure',
  review_comments: 'review_comments',
  bot_review: 'bot_review',
  merge_conflicts: 'merge_conflicts',
  label_commands: 'label_commands',
} satisfies { [K in Trigger]: K });
