import { hashedName, workspaceKey } from './key.ts';

/** The branch of an issue; the same characters as its directory where git takes them, so that every forge does. */
export function branchOf(identifier: string): string {
  const name = workspaceKey(identifier);
  return `foray/${NO_BRANCH.test(name) ? hashedName(name) : name}`;
}

/** What git takes for no part of a branch's name: git-check-ref-format(1). */
const NO_BRANCH = /^\.|\.\.|\.$|\.lock$/;
