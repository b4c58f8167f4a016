import { AGENT_FACTS } from '../agents/facts.ts';
import { workflowJsonSchema } from '../config/json-schema.ts';
import { PROVIDER_FACTS } from '../providers/facts.ts';

/** The JSON Schema of the front matter with every kind there is. */
export function workflowSchema(): object {
  return workflowJsonSchema(PROVIDER_FACTS, AGENT_FACTS);
}
