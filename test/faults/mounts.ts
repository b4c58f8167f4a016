import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A disk of its own that a test may spoil. */
export interface Disk {
  /** Whether it could be made: mounting is for root, and not in every container. */
  readonly isThere: boolean;
  close(): Promise<void>;
}

/** A disk in memory of that many bytes. */
export interface SmallDisk extends Disk {
  fill(): Promise<void>;
  setReadOnly(): Promise<boolean>;
}

/** A disk that can break: the system then lets nobody write to it any more, also to files that are open. */
export interface BreakingDisk extends Disk {
  /** As the system does it itself at an error of the disk (`errors=remount-ro`). */
  turnReadOnly(): Promise<boolean>;
  /** Takes it away and brings it back, as after a repair. */
  repair(): Promise<boolean>;
}

export const NO_MOUNT = 'no right to mount a disk here';

export async function openSmallDisk(place: string, bytes: number): Promise<SmallDisk> {
  mkdirSync(place);
  const isThere = await succeeds('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', place]);
  return {
    isThere,
    async fill() {
      await succeeds('sh', ['-c', `head -c ${bytes} /dev/zero > "$0"`, path.join(place, 'filler')]);
    },
    setReadOnly: () => succeeds('mount', ['-o', 'remount,ro', place]),
    close: () => unmount(place, isThere),
  };
}

/** A folder that can be read only, until it is closed. What has files of it open may go on writing to those. */
export async function coverReadOnly(folder: string): Promise<Disk> {
  const isBound = await succeeds('mount', ['--bind', folder, folder]);
  const isThere = isBound && (await succeeds('mount', ['-o', 'remount,bind,ro', folder]));
  return { isThere, close: () => unmount(folder, isBound) };
}

const IMAGE_BYTES = 8 * 1024 * 1024;

export async function openBreakingDisk(place: string): Promise<BreakingDisk> {
  const image = `${place}.img`;
  mkdirSync(place);
  writeFileSync(image, '');
  truncateSync(image, IMAGE_BYTES);
  const mount = (from: string): Promise<boolean> => succeeds('mount', ['-o', 'loop,errors=remount-ro', from, place]);
  const isThere = (await succeeds('mkfs.ext4', ['-q', '-F', image])) && (await mount(image));
  const spoil = 'echo 1 > /sys/fs/ext4/$(basename "$(findmnt -no SOURCE "$0")")/trigger_fs_error';
  return {
    isThere,
    async turnReadOnly() {
      await succeeds('sh', ['-c', spoil, place]);
      return !(await succeeds('touch', [path.join(place, 'probe')]));
    },
    async repair() {
      await unmount(place, isThere);
      // Another program may have seen the broken one and keep it as it is: a copy is repaired.
      copyFileSync(image, `${image}.repaired`);
      return (await succeeds('e2fsck', ['-fy', `${image}.repaired`], 1)) && mount(`${image}.repaired`);
    },
    close: () => unmount(place, isThere),
  };
}

async function unmount(place: string, isThere: boolean): Promise<void> {
  if (isThere) await succeeds('umount', ['-l', place]);
}

/** Whether a command ended with that exit code at most. */
function succeeds(command: string, args: readonly string[], worst = 0): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code !== null && code <= worst));
  });
}
