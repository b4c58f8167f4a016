import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomInt } from 'node:crypto';
import type { Readable } from 'node:stream';
import { openLink, type Link } from './link.ts';

/**
 * A host of the fleet: programs that reach the database by one way, which can be cut. In a network namespace of its own a
 * cut link is silent, as an unplugged cable is: nothing arrives, nothing is refused, and the server keeps the session. Where
 * namespaces are not allowed it is a plain process, whose connections are closed and refused until the link is healed.
 */
export interface Host {
  /** The address of the database from here. */
  through(url: string): string;
  start(args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): ChildProcessByStdio<null, null, Readable>;
  cut(): void;
  heal(): void;
  close(): Promise<void>;
}

export type HostKind = 'namespaces' | 'processes';

/** As `FORAY_FLEET_HOSTS` says, else as asked, or plain processes where namespaces are not allowed; told on the console. */
export function chooseHosts(wanted: HostKind): HostKind {
  const asked = process.env['FORAY_FLEET_HOSTS'] ?? wanted;
  if (asked !== 'namespaces') return 'processes';
  const refusal = refusalOfNamespaces();
  console.log(refusal === null ? 'hosts are network namespaces' : `hosts are plain processes: ${refusal}`);
  return refusal === null ? 'namespaces' : 'processes';
}

export function openHost(kind: HostKind, serverPort: number): Promise<Host> {
  return kind === 'namespaces' ? openNamespace(serverPort) : openProcess(serverPort);
}

async function openProcess(serverPort: number): Promise<Host> {
  const link = await openLink(serverPort);
  return { ...link, start: (args, options) => startProgram([process.execPath, ...args], options) };
}

/** The way leads over a pair of virtual cards, of which the one on this side is taken down. */
async function openNamespace(serverPort: number): Promise<Host> {
  const place = makeNamespace();
  const link: Link = await openLink(serverPort, place.here).catch((error: unknown) => {
    removeNamespace(place.name);
    throw error;
  });
  return {
    through: link.through,
    start: (args, options) => startProgram(['ip', 'netns', 'exec', place.name, process.execPath, ...args], options),
    cut: () => ip('link', 'set', place.card, 'down'),
    heal: () => ip('link', 'set', place.card, 'up'),
    async close() {
      await link.close();
      removeNamespace(place.name);
    },
  };
}

function startProgram([program = '', ...args]: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  return spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
}

interface Place {
  readonly name: string;
  /** The card on this side, and its address. */
  readonly card: string;
  readonly here: string;
}

/** Another test may have taken the number. */
function makeNamespace(tries = 5): Place {
  try {
    return makeNumbered(randomInt(1 << 14));
  } catch (error) {
    if (tries === 1) throw error;
    return makeNamespace(tries - 1);
  }
}

function makeNumbered(number: number): Place {
  const name = `foray-${number}`;
  const card = `fy${number}`;
  // Four addresses each, in a range that nobody routes.
  const address = (last: number): string => `10.213.${number >> 6}.${((number & 63) << 2) + last}`;
  ip('netns', 'add', name);
  try {
    ip('link', 'add', card, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('addr', 'add', `${address(1)}/30`, 'dev', card);
    ip('-n', name, 'addr', 'add', `${address(2)}/30`, 'dev', 'eth0');
    ip('link', 'set', card, 'up');
    for (const one of ['lo', 'eth0']) ip('-n', name, 'link', 'set', one, 'up');
    return { name, card, here: address(1) };
  } catch (error) {
    removeNamespace(name);
    throw error;
  }
}

/** Its card goes with it, and so does the other one of the pair. */
function removeNamespace(name: string): void {
  ip('netns', 'del', name);
}

function refusalOfNamespaces(): string | null {
  try {
    removeNamespace(makeNamespace().name);
    return null;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    return said === '' ? String(error) : said;
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
