export { BROKEN_ENDS_MS, HostError, startRemote } from './remote-process.ts';
export type { SshTarget } from './remote-process.ts';
