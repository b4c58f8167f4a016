import { z } from 'zod';
import { TRIGGERS } from '../../domain/reactions/registry.ts';

/** Why a run was started. */
export const TriggerSchema = z.enum(TRIGGERS);
