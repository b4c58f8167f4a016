export { createBundle, createCarriedRemote, tooLarge } from './carried-remote.ts';
export { mustPass } from './must-pass.ts';
export { publish } from './publish.ts';
export type { Published } from './publish.ts';
export { GitRefusal } from './refusal.ts';
export { offeredRef, pushedRef, pushFromControl } from './remote.ts';
export { createRepository, createSequence } from './repository.ts';
export type { Exclusively, Repository } from './repository.ts';
export { createWorktree, updateWorktree } from './worktree.ts';
