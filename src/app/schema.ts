import { AGENT_KINDS } from '../agents/registry.ts';
import { workflowJsonSchema } from '../config/json-schema.ts';
import { PROVIDERS } from '../providers/registry.ts';

/** The JSON Schema of the front matter with every kind there is. */
export function workflowSchema(): object {
  return workflowJsonSchema(PROVIDERS, AGENT_KINDS);
}
