import type { Notice } from '../../domain/model/notice.ts';
import type { Daemon } from '../../ports/daemon.ts';

/** Something that happened to an issue. */
export interface JournalEntry {
  readonly at: number;
  readonly text: string;
  readonly tone: 'good' | 'bad' | 'warn' | 'plain';
}

const ENTRIES_OF_ISSUE = 60;
const ISSUES = 2_000;

/** What happened to each issue between and after its runs, since this service started. */
export interface Journal {
  of(identifier: string): readonly JournalEntry[];
}

export function keepJournal({ notices, clock }: Pick<Daemon, 'notices' | 'clock'>): Journal {
  /** By identifier, those longest without news first. */
  const kept = new Map<string, readonly JournalEntry[]>();
  notices.listen((notice) => {
    const entry = entryOf(notice);
    const identifier = identifierOf(notice);
    if (entry === null || identifier === null) return;
    const entries = [...(kept.get(identifier) ?? []), { at: clock.now(), ...entry }].slice(-ENTRIES_OF_ISSUE);
    kept.delete(identifier);
    kept.set(identifier, entries);
    const [oldest] = kept.keys();
    if (kept.size > ISSUES && oldest !== undefined) kept.delete(oldest);
  });
  return { of: (identifier) => kept.get(identifier) ?? [] };
}

function identifierOf({ facts }: Notice): string | null {
  if ('issue' in facts) return facts.issue.identifier;
  return 'request' in facts && 'identifier' in facts.request ? facts.request.identifier : null;
}

/** Null for what the runs themselves tell, and for what comes too often. */
function entryOf({ name, facts }: Notice): Omit<JournalEntry, 'at'> | null {
  switch (name) {
    case 'handoff:transition:succeeded':
      return { tone: 'good', text: `handed off to ${facts.state}` };
    case 'handoff:transition:refused':
    case 'handoff:transition:failed':
      return { tone: 'bad', text: `handoff to ${facts.state} failed: ${facts.error}` };
    case 'handoff:transition:skipped':
      return { tone: 'plain', text: `not handed off: ${facts.reason}` };
    case 'issue:park:entered':
      return { tone: 'warn', text: `parked (${facts.reason.replaceAll('_', ' ')}): ${facts.detail}` };
    case 'issue:park:released':
      return { tone: 'plain', text: `released: ${facts.reason}` };
    case 'retry:entry:scheduled':
      return { tone: 'warn', text: `to be tried again: ${facts.error}` };
    case 'reaction:watch:armed':
      return { tone: 'plain', text: `merge request ${facts.owner}/${facts.repo} #${facts.number} is watched` };
    case 'reaction:watch:ended':
      return { tone: 'plain', text: `merge request is no longer watched: ${facts.why}` };
    case 'reaction:turn:queued':
      return { tone: 'plain', text: `a turn for ${facts.kind.replaceAll('_', ' ')} is queued` };
    case 'reaction:escalation:raised':
      return { tone: 'warn', text: `${facts.kind.replaceAll('_', ' ')} asks for a person: ${facts.why}` };
    case 'reaction:merge:succeeded':
      return { tone: 'good', text: `merge request #${facts.number} was merged${facts.byUs ? ' by foray' : ''}` };
    case 'reaction:merge:failed':
      return { tone: 'bad', text: `merging #${facts.number} failed: ${facts.error}` };
    case 'reaction:completion:succeeded':
      return { tone: 'good', text: `moved to ${facts.state}` };
    case 'operator:request:answered':
      return { tone: 'plain', text: `${facts.by} asked to ${facts.request.kind}: ${facts.answer.message}` };
    default:
      return null;
  }
}
