import type { Settings } from '../../domain/model/settings.ts';
import type { ProjectFacts, Rights, TokenUses, Tracker } from '../../ports/tracker.ts';
import { finding, ok, type Finding } from './finding.ts';

/** Whether the credential may do what a run does to an issue, and deliver what it has made. */
export async function checkRights(
  remote: Tracker,
  facts: ProjectFacts | null,
  settings: Settings,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const uses = usesOf(settings);
  const rights = (await remote.readRights?.(signal, uses).catch(() => null)) ?? null;
  return [...judgeRights(rights, facts?.mayWrite ?? null), ...(uses.pushes ? judgePush(facts, settings) : [])];
}

/** What the remote does not tell is said to be untold. */
function judgeRights(rights: Rights | null, mayWrite: boolean | null): readonly Finding[] {
  const { missing, untold } = rights ?? NOTHING_TOLD;
  if (missing.length > 0 || mayWrite === false) {
    const lacks = missing.length > 0 ? `: it lacks ${missing.join(', ')}` : ': its account has no role that may write';
    return [finding('error', 'tracker.rights', `the token may read, but not change issues${lacks}`, RIGHTS_REMEDY)];
  }
  if (untold.length > 0) {
    const who = mayWrite === true ? 'its account may change issues; ' : '';
    return [ok('tracker.rights', `${who}the token does not tell whether it has ${untold.join(', ')}, which runs need`)];
  }
  return rights !== null || mayWrite === true ? [ok('tracker.rights', 'the token may change issues')] : [];
}

const NOTHING_TOLD: Rights = { missing: [], untold: [] };
const RIGHTS_REMEDY = "give it the scopes of the tracker's page, or its account a role that may write";

/** Where work is delivered to the forge that is the tracker, its credential opens the request, and pushes unless git has another. */
function usesOf({ tracker, workspace: { repo } }: Settings): TokenUses {
  const opensRequests =
    repo?.push === true && repo.connection?.kind === tracker.kind && repo.connection.apiKey === tracker.apiKey.trim();
  return { opensRequests, pushes: opensRequests && repo.token === repo.connection?.apiKey };
}

/** A warning: the role may be given before the first run. Of another repository than that of the issues nothing was asked. */
function judgePush(facts: ProjectFacts | null, { workspace: { repo } }: Settings): readonly Finding[] {
  const target = `${repo?.owner}/${repo?.name}`;
  if (facts?.mayPush !== false || facts.path.toLowerCase() !== target.toLowerCase()) return [];
  const message = `runs push to ${target} by this token, and its account may not push there`;
  return [finding('warning', 'workspace.push', message, PUSH_REMEDY)];
}

const PUSH_REMEDY =
  'give the account a role that may push, or set workspace.repo_token to a token that may, or workspace.push: false';
