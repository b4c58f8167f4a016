import type { Trust } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { Clock } from '../../ports/runtime.ts';
import { whenMissing } from '../shared/failures.ts';
import type { Project } from './routes.ts';
import { MEMBER, type WireUserRef } from './scm-schema.ts';

/** Whether the word of an account counts in a project. */
export type IsTrusted = (project: Project, user: WireUserRef | null | undefined, signal: AbortSignal) => Promise<boolean>;

/** Members API, "Get a member of a group or project, including inherited members": 30 is the role Developer. */
const DEVELOPER = 30;
const REMEMBERED_MS = 3_600_000;
const MAX_REMEMBERED = 1000;

/** Who may write is asked for once an hour and account. A lookup that fails ends the read: nobody is trusted by chance. */
export function createTrust(clock: Clock): (trust: Trust) => IsTrusted {
  const known = new Map<string, { readonly until: number; readonly answer: Promise<boolean> }>();
  const isCollaborator: IsTrusted = (project, user, signal) => {
    if (!user?.id) return Promise.resolve(false);
    const key = `${project.route} ${user.id}`;
    const before = known.get(key);
    if (before && before.until > clock.now()) return before.answer;
    if (known.size >= MAX_REMEMBERED) known.clear();
    const answer = isDeveloper(project, String(user.id), signal);
    known.set(key, { until: clock.now() + REMEMBERED_MS, answer });
    answer.catch(() => known.delete(key));
    return answer;
  };
  return (trust) => (trust === 'anyone' ? () => Promise.resolve(true) : isCollaborator);
}

/** Whether an account has the role Developer or above, its own or inherited. */
export async function isDeveloper({ http, route }: Project, userId: string, signal: AbortSignal): Promise<boolean> {
  // GitLab API, "Members API": inherited members included.
  const found = await whenMissing(http.getJson(MEMBER, { path: `${route}${path`/members/all/${userId}`}` }, signal), null);
  return found !== null && found.access_level >= DEVELOPER;
}
