/** Where nobody but this machine can reach us. */
export const LOOPBACK = '127.0.0.1';
