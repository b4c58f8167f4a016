import { ask } from './asked.ts';
import { change, type Draft } from './draft.ts';
import type { WorkspaceRecord } from './model/claim.ts';
import { hostPathOf } from './model/host-path.ts';
import type { IssueRef } from './model/issue.ts';
import type { State } from './model/state.ts';
import { withEntry, withoutEntry } from './model/versioned-map.ts';

/** Remembers a directory that was made for an issue, beside the write. */
export function putWorkspace(draft: Draft, workspace: WorkspaceRecord): void {
  const { issueId, path } = workspace;
  forgetPath(draft, path);
  const { workspaces, workspacePaths } = draft.state;
  const paths = [...(workspacePaths.get(issueId) ?? []), path];
  change(draft, {
    workspaces: withEntry(workspaces, path, workspace),
    workspacePaths: withEntry(workspacePaths, issueId, paths),
  });
  draft.writes.push({ write: 'workspace', workspace });
}

export function dropWorkspace(draft: Draft, path: string): void {
  if (!draft.state.workspaces.has(path)) return;
  forgetPath(draft, path);
  change(draft, { workspaces: withoutEntry(draft.state.workspaces, path) });
  draft.writes.push({ write: 'workspace-gone', path });
}

/** The path is no longer found by its issue. */
function forgetPath(draft: Draft, path: string): void {
  const { workspaces, workspacePaths } = draft.state;
  const issueId = workspaces.get(path)?.issueId;
  if (issueId === undefined) return;
  const rest = (workspacePaths.get(issueId) ?? []).filter((other) => other !== path);
  change(draft, {
    workspacePaths: rest.length > 0 ? withEntry(workspacePaths, issueId, rest) : withoutEntry(workspacePaths, issueId),
  });
}

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
