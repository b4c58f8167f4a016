import { change, type Draft } from './draft.ts';
import type { WorkspaceRecord } from './model/claim.ts';
import { withEntry, withoutEntry } from './model/versioned-map.ts';

/* The part of draft.ts that changes the directories on record. */

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
