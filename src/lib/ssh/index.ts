export { BROKEN_ENDS_MS, HostError, SILENCE_ENDS_MS, startRemote } from './remote-process.ts';
export type { SshTarget } from './remote-process.ts';
