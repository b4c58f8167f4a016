/** What an agent leaves in `.foray/` of its workspace: its word on the outcome, and the merge request it opened. */
export type AgentStatusWord = 'blocked' | 'needs-human-review' | 'no-change-needed';

export interface AgentStatus {
  readonly word: AgentStatusWord;
  /** The agent's statement: what follows the first line. May be empty. */
  readonly statement: string;
}

export interface ScmRecord {
  readonly branch: string;
  readonly sha: string;
  readonly pushedAt: string;
  readonly prNumber: number;
  readonly owner: string;
  readonly repo: string;
}
