/** Node's module for processes, loaded with the first one that is started: a service comes to its first poll without. */
export const childProcess = (): typeof import('node:child_process') => process.getBuiltinModule('node:child_process');
