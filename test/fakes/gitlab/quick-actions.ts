import type { FakeIssue, IssueChange } from './store.ts';

/** What a comment asked for by lines such as `/close`, and what is left of its text. */
export interface ReadComment {
  readonly text: string;
  readonly change: IssueChange | null;
  /** What the vendor reports as `commands_changes`. */
  readonly commands: Readonly<Record<string, unknown>>;
}

type Action = (argument: string, issue: FakeIssue) => { readonly change: IssueChange; readonly command: Record<string, unknown> };

const ACTIONS: Readonly<Record<string, Action>> = {
  close: () => ({ change: { state: 'closed' }, command: { state_event: 'close' } }),
  reopen: () => ({ change: { state: 'opened' }, command: { state_event: 'reopen' } }),
  confidential: () => ({ change: { confidential: true }, command: { confidential: true } }),
  label: (argument) => ({
    change: { addLabels: labelsIn(argument) },
    command: { add_label_ids: labelsIn(argument).map(() => 1) },
  }),
};

/** Actions stand at the start of a line; inside a fenced code block they are plain text. */
export function readComment(body: string, issue: FakeIssue): ReadComment {
  const kept: string[] = [];
  let change = null as IssueChange | null;
  let commands: Record<string, unknown> = {};
  let fence: string | null = null;
  for (const line of body.split('\n')) {
    const marker: string | undefined = /^(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null && marker) fence = marker;
    else if (fence !== null && marker?.startsWith(fence)) fence = null;
    const [, name = '', argument = ''] = /^\/(\w+)\s*(.*)$/.exec(line) ?? [];
    const action = fence === null ? ACTIONS[name] : undefined;
    if (!action) {
      kept.push(line);
      continue;
    }
    const done = action(argument, issue);
    change = { ...change, ...done.change };
    commands = { ...commands, ...done.command };
  }
  return { text: kept.join('\n').trim(), change, commands };
}

function labelsIn(argument: string): readonly string[] {
  return [...argument.matchAll(/~"([^"]+)"|~(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}
