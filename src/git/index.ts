export { publish } from './publish.ts';
export type { Published } from './publish.ts';
export { GitRefusal } from './refusal.ts';
export { createRepository } from './repository.ts';
export type { Repository, RepositoryDeps, RepositorySettings } from './repository.ts';
export { createWorktree, forgetWorktree, updateWorktree } from './worktree.ts';
