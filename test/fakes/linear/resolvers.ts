import { forbidden, invalidInput, notFound } from './failures.ts';
import { fits } from './filter.ts';
import type { ListArgs } from './wire.ts';
import {
  commentNode,
  connection,
  issueNode,
  issueView,
  labelNode,
  labelView,
  stateList,
  stateNode,
  teamNode,
  userNode,
} from './wire.ts';
import type { FakeIssue, FakeLabel, World } from './store.ts';
import { addComment, addLabel, findIssue } from './store.ts';

interface IssueInput {
  readonly stateId?: string;
  readonly labelIds?: readonly string[];
  readonly addedLabelIds?: readonly string[];
  readonly removedLabelIds?: readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** The root of the schema: reads, then writes. */
export function rootOf(world: World) {
  return { ...readsOf(world), ...writesOf(world) };
}

function readsOf(world: World) {
  return {
    viewer: () => userNode(world.viewer),
    user: ({ id }: { id: string }) => userNode(one(world.users, id, 'User')),
    team: ({ id }: { id: string }) => {
      const team = world.teams.find((candidate) => candidate.id === id || candidate.key === id);
      if (!team) throw notFound('Team');
      return teamNode(world, team);
    },
    teams: (args: ListArgs) =>
      connection(
        world.teams.filter((team) => fits(args.filter, team)).map((team) => teamNode(world, team)),
        args,
      ),
    workflowState: ({ id }: { id: string }) => {
      const team = world.teams.find(({ states }) => states.some((state) => state.id === id));
      if (!team) throw notFound('WorkflowState');
      return stateNode(world, team, one(team.states, id, 'WorkflowState'));
    },
    workflowStates: (args: ListArgs) =>
      connection(
        world.teams.flatMap((team) => stateList(world, team, args.filter)),
        args,
        world.maxPageSize,
      ),
    issue: ({ id }: { id: string }) => issueNode(world, knownOr404(world, id)),
    issues: (args: ListArgs) => {
      const found = world.issues.filter((issue) => args.includeArchived || issue.archivedAt === null);
      const fitting = found.filter((issue) => fits(args.filter, issueView(issue))).toSorted(newestFirst);
      const nodes = fitting.map((issue) => issueNode(world, issue) as { id: string });
      return connection(nodes, args, world.maxPageSize);
    },
    issueLabel: ({ id }: { id: string }) => labelNode(world, one(world.labels, id, 'IssueLabel')),
    issueLabels: (args: ListArgs) => {
      const fitting = world.labels.filter((label) => fits(args.filter, labelView(label)));
      return connection(
        fitting.map((label) => labelNode(world, label)),
        args,
        world.maxPageSize,
      );
    },
  };
}

function writesOf(world: World) {
  return {
    issueUpdate: ({ id, input }: { id: string; input: IssueInput }) => {
      const issue = knownOr404(world, id);
      update(world, issue, input);
      return payload({ issue: () => issueNode(world, issue) });
    },
    commentCreate: ({ input }: { input: { issueId?: string; body?: string } }) => {
      const issue = knownOr404(world, input.issueId ?? '');
      if (!input.body?.trim()) throw invalidInput('body must not be empty.');
      const comment = addComment(world, issue, { body: input.body, author: world.viewer.displayName });
      return payload({ comment: () => commentNode(world, issue, comment) });
    },
    issueLabelCreate: ({ input }: { input: { name: string; teamId?: string; isGroup?: boolean } }) => {
      const team = input.teamId === undefined ? null : one(world.teams, input.teamId, 'Team');
      if (world.labelsRefused) throw forbidden('Only team owners can create labels in this team.');
      const taken = world.labels.some(
        (label) => label.name.toLowerCase() === input.name.toLowerCase() && (label.team === null || label.team === team),
      );
      if (taken) throw invalidInput(`Label "${input.name}" already exists.`, 'Duplicate label name');
      const label = addLabel(world, input.name, { team, isGroup: input.isGroup ?? false });
      return payload({ issueLabel: () => labelNode(world, label) });
    },
  };
}

// Everything is judged before anything is changed.
function update(world: World, issue: FakeIssue, input: IssueInput): void {
  const { stateId, labelIds, addedLabelIds = [], removedLabelIds = [] } = input;
  const state = stateId === undefined ? issue.state : one(issue.team.states, stateId, 'WorkflowState');
  const replaced = labelIds?.map((id) => attachable(world, issue, id));
  const added = addedLabelIds.map((id) => attachable(world, issue, id));
  const removed = removedLabelIds.map((id) => one(world.labels, id, 'IssueLabel'));
  issue.state = state;
  if (replaced) issue.labels.clear();
  for (const label of [...(replaced ?? []), ...added]) issue.labels.add(label);
  for (const label of removed) issue.labels.delete(label);
  issue.title = input.title ?? issue.title;
  issue.description = input.description ?? issue.description;
  issue.priority = input.priority ?? issue.priority;
  issue.updatedAt = world.now();
}

function attachable(world: World, issue: FakeIssue, id: string): FakeLabel {
  const label = one(world.labels, id, 'IssueLabel');
  if (label.isGroup) throw invalidInput('The label is a group and cannot be assigned to issues directly.');
  if (label.team !== null && label.team !== issue.team) throw invalidInput('The label is of another team.');
  return label;
}

function payload<T extends object>(more: T) {
  return { ...more, lastSyncId: 1, success: true };
}

function knownOr404(world: World, name: string): FakeIssue {
  const issue = findIssue(world, name);
  if (!issue) throw notFound('Issue');
  return issue;
}

function one<T extends { readonly id: string }>(all: readonly T[], id: string, entity: string): T {
  const found = all.find((entry) => entry.id === id);
  if (!found) throw notFound(entity);
  return found;
}

function newestFirst(a: FakeIssue, b: FakeIssue): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt) || b.number - a.number;
}
