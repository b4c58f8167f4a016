import { TrackerError } from '../../domain/model/errors.ts';
import { sameState } from '../../domain/model/issue.ts';
import type { LabelWriter } from '../../ports/tracker.ts';
import type { LinearClient } from './client.ts';
import { CREATE_LABEL, ISSUE_LABELS_BY_NAME, LABELS_BY_NAME, UPDATE_ISSUE } from './operations.ts';
import type { WireLabel } from './schema.ts';
import { LABEL } from './schema.ts';
import { PAGE_SIZE } from './settings.ts';
import type { TeamReader } from './team.ts';

export interface LabelParts {
  readonly client: LinearClient;
  readonly teamKey: string;
  readonly team: TeamReader;
}

/**
 * Labels by id. Both directions use the fields that name only what changes: the one that replaces the whole set would lose
 * what somebody else attached meanwhile.
 */
export function createLabelWriter(parts: LabelParts): LabelWriter {
  const { client } = parts;
  const update = async (id: string, input: object, signal: AbortSignal): Promise<void> => {
    client.confirm('issueUpdate', (await client.run(UPDATE_ISSUE, { id, input }, signal)).issueUpdate);
  };
  return {
    add: async (id, label, signal) => {
      const name = label.trim();
      if (name === '') throw client.fault('tracker_payload_error', `no label was added to issue ${id}: it has no name`);
      const labelId = (await find(parts, name, signal)) ?? (await create(parts, name, signal));
      await update(id, { addedLabelIds: [labelId] }, signal);
    },
    remove: async (id, label, signal) => {
      const carried = await carriedIds(client, id, label.trim(), signal);
      if (carried.length > 0) await update(id, { removedLabelIds: carried }, signal);
    },
  };
}

/** The id of the label of this name that issues of the team can carry. */
async function find({ client, teamKey }: LabelParts, name: string, signal: AbortSignal): Promise<string | undefined> {
  const found = await client.readAll('labels', LABEL, async (after) => {
    return (await client.run(LABELS_BY_NAME, { name, first: PAGE_SIZE, after }, signal)).issueLabels;
  });
  // A group only holds labels and is attached to no issue.
  const usable = found.filter((label) => sameState(label.name, name) && label.isGroup !== true);
  return (pick(usable, name, (label) => label.team?.key === teamKey) ?? pick(usable, name, (label) => !label.team))?.id;
}

function pick(labels: readonly WireLabel[], name: string, inScope: (label: WireLabel) => boolean): WireLabel | undefined {
  const scoped = labels.filter(inScope);
  return scoped.find((label) => label.name === name) ?? scoped[0];
}

/** Creates a label of the team. When the remote will not have it, somebody else may have been faster. */
async function create(parts: LabelParts, name: string, signal: AbortSignal): Promise<string> {
  const { client } = parts;
  const team = await parts.team.read(signal);
  try {
    const { issueLabelCreate } = await client.run(CREATE_LABEL, { input: { teamId: team.id, name } }, signal);
    client.confirm('issueLabelCreate', issueLabelCreate);
    if (issueLabelCreate.issueLabel) return issueLabelCreate.issueLabel.id;
    throw client.fault('tracker_payload_error', `the label ${JSON.stringify(name)} was created but its id is not told`);
  } catch (error) {
    if (!(error instanceof TrackerError) || error.kind !== 'tracker_payload_error') throw error;
    const winner = await find(parts, name, signal);
    if (winner === undefined) throw error;
    return winner;
  }
}

/** The labels of this name that the issue carries, of whatever scope. */
async function carriedIds(client: LinearClient, id: string, name: string, signal: AbortSignal): Promise<readonly string[]> {
  const carried = await client.readAll('labels of an issue', LABEL, async (after) => {
    const { issue } = await client.run(ISSUE_LABELS_BY_NAME, { id, name, after }, signal);
    if (!issue) throw client.fault('tracker_not_found', `no issue ${id}`);
    return issue.labels;
  });
  return carried.filter((label) => sameState(label.name, name)).map((label) => label.id);
}
