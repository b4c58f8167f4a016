import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { workflowText, type Playground } from '../../support/daemon.ts';
import type { RecordedRequest, Reply } from '../../support/http-server.ts';
import { empty, json, router, type RouteHandler } from '../../support/http-server.ts';
import { nsprojectForge } from './forges/gitlab.ts';
import { repoissuesForge } from './forges/github.ts';
import { selfhostedForge } from './forges/gitea.ts';
import { startFront, type Front, type Matcher } from './front.ts';

/** A fake forge of one kind in the hands of its people, told in no vendor's words. It has one issue and one merge request. */
export interface ForgeHands {
  readonly kind: string;
  readonly url: string;
  readonly token: string;
  readonly project: string;
  /** Files that users of this forge are given, and the one that holds the token of the script. */
  readonly script: { readonly name: string; readonly token: string; readonly example: string };
  /** The tracker block, the connection aside. */
  readonly states: string;
  readonly handoff: string;
  addIssue(title: string): string;
  issueOf(id: string): { readonly state: string; readonly labels: readonly string[]; readonly comments: readonly string[] };
  /** Opens the merge request, as its author would. A person is asked for a review. */
  open(fields: { title: string; branch: string; sha: string }): number;
  push(number: number, sha: string): void;
  /** The forge has made up its mind about the last push. */
  settle(number: number): void;
  ci(number: number, result: 'red' | 'green', log?: string): void;
  requestChanges(number: number, body: string): void;
  botReview(number: number, author: string, body: string): void;
  /** Null where the forge does not tell a conflict from other things. */
  readonly conflict: ((number: number, exists: boolean) => void) | null;
  /** Something of its own stands in the way of a merge for a while. */
  hinder(number: number, exists: boolean): void;
  /** Checks alone keep it from being clean; null where the forge does not tell that. */
  readonly destabilize: ((number: number) => void) | null;
  approve(number: number): void;
  mergeByHand(number: number): void;
  /** What is to be merged into its branch waits in a queue of the forge's; null where it has none. */
  readonly queue: { open(number: number): void; holds(number: number): boolean } | null;
  /** By a person, or by the account of the token. */
  label(number: number, name: string, actor?: string): void;
  /** A stranger asks for changes. */
  strangerObjects(number: number, body: string): void;
  /** A person of the project approves what a stranger objects to. */
  colleagueApproves(number: number): void;
  /** The account of the token itself approves, while somebody else is asked. */
  ownApproves(number: number): void;
  /** What the account of the token itself says on the request. */
  ownReview(number: number, body: string): void;
  /** The source branch is in a fork. */
  fork(number: number): void;
  /** It is to be merged into another branch than the default one. */
  retarget(number: number, branch: string): void;
  /** Another person is asked for a review, who has not spoken yet. */
  askAnother(number: number): void;
  /** What an app says that an administrator installed and nobody named; null where the forge calls nobody an app. */
  readonly appReview: ((number: number, body: string) => void) | null;
  labelsOf(number: number): readonly string[];
  remove(number: number): void;
  request(number: number): { readonly merged: boolean; readonly sha: string };
  branches(): readonly string[];
  /** Routes that open and find merge requests: only the hook's script uses them. */
  routes(state: ForgeState): Readonly<Record<string, RouteHandler>>;
  readonly is: ForgeMatchers;
  close(): Promise<void>;
}

/** Which request is which. */
export interface ForgeMatchers {
  readonly status: Matcher;
  /** Of the issue's state: once in every look. */
  readonly lookup: Matcher;
  readonly ci: Matcher;
  readonly reviews: Matcher;
  readonly merge: Matcher;
  readonly branchDeletion: Matcher;
  /** Of the issue: its last move. */
  readonly completion: Matcher;
  readonly comment: Matcher;
  /** Reads and writes of the issue itself, its label writes included. */
  readonly issue: Matcher;
  expectedHead(request: RecordedRequest): unknown;
}

/** What the forge knows of branches and of the merge requests opened from them. */
export interface ForgeState {
  readonly heads: ReadonlyMap<string, string>;
  /** Open ones, by branch. */
  readonly opened: ReadonlyMap<string, number>;
  isAllowed(request: RecordedRequest): boolean;
  open(fields: { title: string; branch: string }): number;
}

export interface Forge extends ForgeHands {
  readonly front: Front;
  readonly project: string;
  /** The number of the one merge request; throws before there is one. */
  number(): number;
  head(): string;
  isMerged(): boolean;
  merges(): readonly RecordedRequest[];
}

export type ForgeBuilder = () => Promise<ForgeHands>;

const FORGES: Readonly<Record<string, ForgeBuilder>> = {
  nsproject: nsprojectForge,
  repoissues: repoissuesForge,
  selfhosted: selfhostedForge,
};
export const FORGE_KINDS: readonly string[] = Object.keys(FORGES);

/** What users are given to start from. */
export const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url));
const TOKEN_VARIABLE = 'REACTION_TOKEN';

export async function buildForge(kind: string): Promise<Forge> {
  const hands = await FORGES[kind]!();
  const heads = new Map<string, string>();
  const opened = new Map<string, number>();
  const place = (branch: string, sha: string): void => {
    heads.set(branch, sha);
    const number = opened.get(branch);
    if (number !== undefined) hands.push(number, sha);
  };
  const state: ForgeState = {
    heads,
    opened,
    isAllowed: ({ headers }) =>
      [headers.authorization, headers['private-token']].some((sent) => sent?.toString().endsWith(hands.token)),
    open: ({ title, branch }) => {
      const number = hands.open({ title, branch, sha: heads.get(branch) ?? '' });
      opened.set(branch, number);
      return number;
    },
  };
  const own = router({
    ...hands.routes(state),
    'POST /-/pushed': (request) => pushed(request, place),
    'POST /-/work': () => worked(state, place, hands.project),
  });
  const front = await startFront(hands.url, own);
  const number = (): number => {
    const [first] = opened.values();
    if (first === undefined) throw new Error('there is no merge request yet');
    return first;
  };
  return {
    ...hands,
    front,
    number,
    head: () => hands.request(number()).sha,
    isMerged: () => hands.request(number()).merged,
    merges: () => front.requests.filter(hands.is.merge),
    async close() {
      await front.close();
      await hands.close();
    },
  };
}

function pushed({ body }: RecordedRequest, place: (branch: string, sha: string) => void): Reply {
  const form = new URLSearchParams(body);
  place((form.get('ref') ?? '').replace(/^refs\/heads\//, ''), form.get('sha') ?? '');
  return empty(204);
}

/** What a run does, without git: another commit on the branch, and the merge request where there is none. */
function worked(state: ForgeState, place: (branch: string, sha: string) => void, project: string): Reply {
  const branch = 'foray/work';
  const sha = String(state.heads.size === 0 ? 1 : Number.parseInt(state.heads.get(branch) ?? '', 16) + 1).padStart(40, '0');
  place(branch, sha);
  const number = state.opened.get(branch) ?? state.open({ title: 'Work', branch });
  const at = project.lastIndexOf('/');
  const [owner, repo] = [project.slice(0, at), project.slice(at + 1)];
  return json({ branch, sha, pushed_at: new Date().toISOString(), pr_number: number, owner, repo });
}

/** Every reaction, looking often. */
export function reactionsOf(kind: string, more: Readonly<Record<string, string>> = {}): string {
  const often = `provider: ${kind}, poll_interval_ms: 200`;
  const all: Record<string, string> = {
    ci_failure: 'max_retries: 2',
    review_comments: 'debounce_ms: 0',
    bot_review: 'bot_usernames: [lint-bot]',
    merge_conflicts: 'max_retries: 1',
    auto_merge: 'strategy: squash, ci_grace_ms: 0',
    merge_completion: 'target_state: done',
    label_commands: 'fix_label: foray:fix',
  };
  const lines = Object.entries(all).map(([name, keys]) => `${name}: { ${often}, ${more[name] ?? keys} }`);
  return lines.join('\n');
}

/** What stands for the work of a run, with further lines. */
export function forgeHooks({ front }: Forge, ...more: readonly string[]): string {
  const work = `mkdir -p .foray && curl --silent --fail --data '' ${front.url}/-/work > .foray/scm.json`;
  return [`after_run: ${work}`, ...more].join('\n');
}

/** The tracker block, with further lines. */
export function forgeTracker({ kind, front, project, states }: Forge, ...more: readonly string[]): string {
  const connection = [`kind: ${kind}`, `endpoint: ${front.url}`, `project: ${project}`, `api_key: $${TOKEN_VARIABLE}`];
  return [...connection, states, ...more].join('\n');
}

/** A workflow whose runs leave a merge request behind at once. `sections` are added or replaced. */
export function forgeWorkflow(forge: Forge, sections: Readonly<Record<string, string>> = {}, body?: string): string {
  const all = {
    tracker: forgeTracker(forge),
    polling: 'interval_ms: 1000',
    workspace: 'root: ws',
    agent: 'kind: mock\nmax_turns: 1',
    hooks: forgeHooks(forge),
    reactions: reactionsOf(forge.kind),
    ...sections,
  };
  return workflowText(all, body);
}

export function forgeEnv(forge: Forge): Record<string, string> {
  return { [TOKEN_VARIABLE]: forge.token };
}

export async function writeToken(forge: Forge, ground: Playground): Promise<void> {
  await mkdir(ground.path('.config', 'foray'), { recursive: true });
  await writeFile(ground.path('.config', 'foray', forge.script.token), `${forge.token}\n`, { mode: 0o600 });
}

export function scriptFile(name: string): string {
  return path.join(EXAMPLES, 'hooks', name);
}
