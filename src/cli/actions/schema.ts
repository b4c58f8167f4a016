import { workflowSchema } from '../../app/schema.ts';
import { printJson } from '../output.ts';

/** Prints the JSON Schema of the front matter. */
export function showSchema(): number {
  printJson(workflowSchema());
  return 0;
}
