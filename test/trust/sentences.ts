/** Whose issues and requests are acted upon, and whose word counts: sentence by sentence, with the test of the built command that shows it. */
export interface TrustSentence {
  readonly says: string;
  /** The kinds of trackers or forges that the test goes through. */
  readonly on: readonly string[];
  readonly file: string;
  /** The title of the test, as it is written there. */
  readonly test: string;
}

const FORGES = ['repoissues', 'nsproject', 'selfhosted'] as const;
const ALL = [...FORGES, 'wfboard', 'graphql', 'file'] as const;
const ANY = ['file'] as const;

/** Rows of one file. */
function rows(file: string, on: readonly string[], sentences: Readonly<Record<string, string>>): readonly TrustSentence[] {
  return Object.entries(sentences).map(([says, test]) => ({ says, on, file, test }));
}

const TOUR = 'keeps to whose word counts for what, on many requests side by side';
const SWAP = 'trackers of every kind take each other’s place while their runs go on: each is handed off where it began';
const STORED = 'keeps what belongs to the old one stored until it is watched again';
const EDITS = 'are applied in order, tried again after an outage, and a rejected one shows outside of the log';
const FOREIGN = 'does nothing about a request of another project, a fork or another branch, and says why';
const DEAF = 'hears neither strangers nor itself, and lets people merge all the same';
const WORDLESS = 'does not let an agent win turns by pushing without a word, nor by a label beyond its budget';
const REFUSED = 'asks a person at the first refusal with max_retries 0, and tries anew once something changed';
const APPROVED = 'works for collaborators alone, and only on what was approved';
const OPEN = 'says that anyone can start a run, and which states are only assumed';
const EVIDENCE =
  'fails a run that left nothing behind, and passes one that changed a file, committed or pushed, whatever files were prepared';
const KEPT = 'leaves runs with their own tracker, and takes new ones from the new one';
const PROJECTS = '%s: the projects whose requests are ours are named, by their full path';

export const IDENTITY: readonly TrustSentence[] = [
  ...rows('test/e2e/identity-tour.test.ts', ALL, {
    'an edit that changes the identity: sessions go on and are handed off on their own tracker, new ones come from the new': SWAP,
    'a run keeps its tracker until its handoff and its comments are written': SWAP,
    'where the plain name is taken, the directory has a hash of the identity': SWAP,
  }),
  ...rows('test/e2e/identity.test.ts', ANY, {
    'a daemon acts only on records of the identity it watches': STORED,
    'records of another stay stored, are told once with identity and counts': STORED,
    'they come back to life; for file the real path is the identity': STORED,
    'a request of an operator reaches no issue of another tracker': STORED,
    'requests of operators carry the identity': STORED,
    'a workspace made for another is never used, cleaned or resumed from': STORED,
    'a run keeps agent, settings and prices it began with': KEPT,
    'a pause is of the service: it holds for a tracker that comes back': KEPT,
    'runs of a tracker that was left take slots until they have ended':
      'are taken by runs of a tracker that was left, and free again when those have ended',
    'a directory that nobody marked is not used or deleted':
      'keeps what nobody marked: it is moved aside when its issue is finished',
  }),
  ...rows('test/e2e/trust.test.ts', ['nsproject', 'file'], {
    'edits are applied one after the other, the newest last': EDITS,
    'one that met an outage is tried again at every poll': EDITS,
    'a rejected one shows in /readyz, the API and as a banner': EDITS,
    'a numeric id and a path of one project are one': EDITS,
  }),
  ...rows('test/e2e/reactions/trust.test.ts', FORGES, {
    'what was read before an edit is not acted upon after it': DEAF,
  }),
  ...rows('test/e2e/authors.test.ts', FORGES, {
    'endpoint without trailing slash or API suffix': APPROVED,
  }),
];

export const TRUST: readonly TrustSentence[] = [
  ...rows('test/e2e/reactions/trust.test.ts', FORGES, {
    'a request is managed by project, branch of the file and no fork; else nothing is read or written': FOREIGN,
    'one warning with the reason, and it shows on the dashboard': FOREIGN,
    'a later run that leaves no scm.json keeps the watch': WORDLESS,
    'a head first seen after a run of ours is ours, whatever scm.json says': WORDLESS,
    'ci_grace_ms: a head without any check waits': REFUSED,
    'max_retries 0 asks a person at the first refusal': REFUSED,
    'an escalation ends when the head changes': REFUSED,
    'label commands by the own account are ignored': DEAF,
    'what the own account wrote is never given back': DEAF,
    'strangers neither start a turn, nor enter a prompt, nor count for or against a merge': DEAF,
    'a request is gone after two looks, and kept in the list': 'keeps a request that is gone in the list, after two looks',
  }),
  ...rows('test/e2e/reactions/trust-tour.test.ts', FORGES, {
    'a branch is deleted only where it is the source, never the default branch': TOUR,
    'ci_grace_ms 0 switches the wait off': TOUR,
    'a merge answered by an error but done is ours, branch deletion included': TOUR,
    'an approval by the own account is none': TOUR,
    'an escalation ends when the decision changes': TOUR,
    'an escalation ends when the mergeability changes': TOUR,
    'restoring other budgets counts': TOUR,
    'label commands have a budget for each head; one beyond it escalates and its label goes': TOUR,
    'the own account is heard where bot_usernames names it': TOUR,
    'trust has the default of the kind': TOUR,
  }),
  ...rows('test/e2e/reactions/trust-tour.test.ts', ['repoissues'], {
    'approved while another reviewer is still asked: it waits': TOUR,
  }),
  ...rows('test/e2e/reactions/trust-tour.test.ts', ['repoissues', 'nsproject'], {
    'conflicts: blocked does not give the budget back': TOUR,
    'accounts that the forge calls bots are heard by bot_review': TOUR,
  }),
  ...rows('test/e2e/authors.test.ts', FORGES, {
    'authors: collaborators; an issue by another is held': APPROVED,
    'comments by others are left out of the prompt': APPROVED,
    'approval_label: dispatched only with the label': APPROVED,
    'an edit after approval holds, until the label is removed and set again': APPROVED,
    'anyone can start a run here: at start and in doctor, where the project is public': OPEN,
  }),
  ...rows('test/e2e/authors.test.ts', FORGES, {
    'label churn, strangers and our own comments are no change': APPROVED,
    'who may write is asked once an hour': APPROVED,
    'the check holds retries, too': APPROVED,
  }),
  ...rows('test/e2e/identity-tour.test.ts', ALL, {
    'authors: a list of names': SWAP,
  }),
  ...rows('test/e2e/trust.test.ts', ANY, {
    'evidence: changes needs a changed file, in a repository or outside of one': EVIDENCE,
    'a commit or a branch is evidence, scm.json alone is none': EVIDENCE,
    'files that were there before the run or are tracked are not the agent’s word': EVIDENCE,
  }),
  ...rows('test/e2e/reactions/trust.test.ts', ['repoissues'], {
    'unstable counts as clean with require_ci off': DEAF,
  }),
  ...rows('test/e2e/trust.test.ts', FORGES, {
    'reactions.projects.required for a tracker of another kind': PROJECTS,
    'an entry of reactions.projects is a full path': PROJECTS,
  }),
];
