import type { TestProxy } from '../../../support/proxy.ts';
import { text } from '../../../support/http-server.ts';
import type { Stage, StageStates } from '../stage.ts';

/** The variable that holds the credential. */
export const TOKEN_VARIABLE = 'STAGE_TOKEN';

/** The tracker block: states of every role, and the credential by its variable. */
export function trackerLines(
  kind: string,
  { todo, doing, handoff, done }: StageStates,
  connection: Readonly<Record<string, string>>,
): string {
  return [
    `kind: ${kind}`,
    ...Object.entries(connection).map(([key, value]) => `${key}: ${value}`),
    `active_states: [${todo}, ${doing}]`,
    `terminal_states: [${done}]`,
    `handoff_state: ${handoff}`,
    `in_progress_state: ${doing}`,
    'comments: { on_completion: true }',
  ].join('\n');
}

/** The list that a REST remote answers as the body itself. */
export function bareList(answer: unknown): Record<string, unknown>[] {
  return answer as Record<string, unknown>[];
}

/** A remote that is away behind a proxy that says so. */
export function outages(proxy: TestProxy): Pick<Stage, 'goAway' | 'comeBack'> {
  return {
    goAway: async () => proxy.shut(text('<html>Service Unavailable</html>', 503, { 'content-type': 'text/html' })),
    comeBack: async () => proxy.shut(null),
  };
}
