import { z } from 'zod';
import { TRIGGERS } from '../../domain/model/run.ts';

/** Why a run was started. */
export const TriggerSchema = z.enum(TRIGGERS);
