import { ask } from './pending-effects.ts';
import type { Draft } from './draft.ts';
import type { WorkspaceRecord } from './model/claim.ts';
import { hostPathOf } from './model/host-path.ts';
import type { IssueRef } from './model/issue.ts';
import type { State } from './model/state.ts';

/** The workspaces of one issue. */
export function workspacesOf({ workspaces, workspacePaths }: State, issueId: string): readonly WorkspaceRecord[] {
  return (workspacePaths.get(issueId) ?? []).flatMap((path) => workspaces.get(path) ?? []);
}

/** Removes the workspace of an issue that nobody works on. */
export function removeWorkspaceOf(draft: Draft, issue: Pick<IssueRef, 'id' | 'identifier' | 'title'>, why: string): void {
  if (draft.state.claims.has(issue.id)) return;
  const records = workspacesOf(draft.state, issue.id);
  ask(draft, {
    do: 'remove-workspace',
    issueId: issue.id,
    identifier: issue.identifier,
    title: issue.title,
    why,
    recorded: records.length > 0,
    paths: records.map(({ path }) => path).filter((path) => hostPathOf(path).host === null),
    hosts: records.flatMap(({ path }) => hostPathOf(path).host ?? []),
  });
}
