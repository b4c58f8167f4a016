import type { RepoKey } from '../../ports/scm.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import { normalState, sameState, stateIn } from '../../domain/model/issue.ts';
import type { TrackerHttp } from '../shared/http.ts';
import type { LabelStateRule } from '../shared/label-state.ts';
import { issuePath } from './client.ts';
import { stillCarried, type Labels } from './labels.ts';
import { isClosed, stateOf } from './map.ts';
import type { WireIssue, WireLabel } from './schema.ts';
import type { States } from './settings.ts';

export interface TransitionParts {
  readonly http: TrackerHttp;
  readonly repository: RepoKey;
  readonly labels: Labels;
  readonly states: States;
  readonly rule: LabelStateRule;
  readonly readIssue: (id: string, signal: AbortSignal) => Promise<WireIssue>;
}

type Role = 'terminal' | 'handoff' | 'active';

/** What a move to a state of each role means for the issue itself: closed, opened again, or left as it is. */
const NATIVE_STATE: Readonly<Record<Role, 'closed' | 'open' | null>> = { terminal: 'closed', handoff: null, active: 'open' };

/** Swaps the state labels first, then opens or closes. Every step may be repeated, so a move that broke off is made again. */
export async function transition(parts: TransitionParts, id: string, state: string, signal: AbortSignal): Promise<void> {
  const place = { method: 'PATCH', path: issuePath(parts.repository, id) };
  const target = targetOf(parts.states, state);
  if (!target) {
    const detail = `${JSON.stringify(state)} is not one of the configured active, terminal or handoff states`;
    throw new TrackerError({ ...place, kind: 'tracker_payload_error', detail });
  }
  const issue = await parts.readIssue(id, signal);
  if (target.role === 'handoff' && isClosed(issue)) {
    const detail = `issue ${id} is closed, so it is not moved to the handoff state ${JSON.stringify(target.name)}; reopen it first`;
    throw new TrackerError({ ...place, kind: 'tracker_payload_error', detail });
  }
  await swapLabels(parts, id, { issue, target: target.name }, signal);
  const native = NATIVE_STATE[target.role];
  if (native !== null && (native === 'closed') !== isClosed(issue)) {
    // Gitea API, "Edit an issue".
    await parts.http.send('PATCH', { path: place.path, body: { state: native } }, signal);
  }
}

// Scanned in the order states are derived in, so that a name in two lists plays the same role in both directions.
function targetOf({ terminal, handoff, active }: States, state: string): { name: string; role: Role } | undefined {
  const lists: readonly (readonly [Role, readonly string[]])[] = [
    ['terminal', terminal],
    ['handoff', handoff === null ? [] : [handoff]],
    ['active', active],
  ];
  for (const [role, names] of lists) {
    const name = names.find((candidate) => stateIn([candidate], state));
    if (name !== undefined) return { name: name.trim(), role };
  }
  return undefined;
}

// A state that is held already needs no label. What an earlier, broken-off move left behind is still taken away.
async function swapLabels(
  parts: TransitionParts,
  id: string,
  { issue, target }: { issue: WireIssue; target: string },
  signal: AbortSignal,
): Promise<void> {
  const { labels, rule, states, repository } = parts;
  const held = sameState(stateOf(issue, rule).state, target);
  const carried = held ? issue.labels : await labels.attach(id, target, signal);
  if (await labels.detach(id, otherStateLabels(carried, states, target), signal)) return;
  // The remote says that one was not there: whether that is so is read, for a label that stays leaves the issue in its old state.
  const [left] = otherStateLabels((await parts.readIssue(id, signal)).labels, states, target);
  if (left) throw stillCarried(repository, id, left.name);
}

function otherStateLabels(carried: readonly WireLabel[], states: States, target: string): readonly WireLabel[] {
  const configured = [...states.terminal, ...(states.handoff === null ? [] : [states.handoff]), ...states.active];
  const others = new Set(configured.map(normalState));
  others.delete(normalState(target));
  return carried.filter(({ name }) => others.has(normalState(name)));
}
