import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';

/**
 * Where the number of a process means the same process: a boot of a machine, and on Linux a namespace of processes within
 * it. Two containers with the same name of the host differ in it. Elsewhere it is the name of the host.
 */
export function machineId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const place = `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
    return createHash('sha256').update(place).digest('hex').slice(0, 16);
  } catch {
    return os.hostname();
  }
}
