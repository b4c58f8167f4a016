import { AGENT_KINDS } from '../../agents/registry.ts';
import { workflowJsonSchema } from '../../config/json-schema.ts';
import { PROVIDERS } from '../../providers/registry.ts';

/** Prints the JSON Schema of the front matter. */
export function printSchema(): number {
  process.stdout.write(`${JSON.stringify(workflowJsonSchema(PROVIDERS, AGENT_KINDS), null, 2)}\n`);
  return 0;
}
