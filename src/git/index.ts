export { publish } from './publish.ts';
export type { Published } from './publish.ts';
export { GitRefusal } from './refusal.ts';
export { createRepository } from './repository.ts';
export type { Repository } from './repository.ts';
export { createWorktree, updateWorktree } from './worktree.ts';
