import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** More than these at once are only somebody who holds connections open. */
export const MAX_CONNECTIONS = 512;

/** Who is connected, and who waits for an answer. */
export interface Connections {
  isAnswering(socket: Duplex): boolean;
  /** Ends every connection that waits for no answer, also those that never asked for anything (browsers open some ahead). */
  endIdle(): void;
}

/**
 * Keeps count. Where there are too many, the one that has been idle longest makes room for the new one, so that
 * connections that are held open without a request never keep anybody out.
 */
export function trackConnections(server: Server): Connections {
  const answering = new Set<Duplex>();
  /** Those without a request under way, the longest idle first. */
  const idle = new Set<Duplex>();
  server.on('connection', (socket) => {
    idle.add(socket);
    socket.once('close', () => {
      idle.delete(socket);
      answering.delete(socket);
    });
    if (idle.size + answering.size <= MAX_CONNECTIONS) return;
    const [longest] = idle;
    longest?.destroy();
    if (longest !== undefined) idle.delete(longest);
  });
  server.on('request', ({ socket }, outgoing) => {
    idle.delete(socket);
    answering.add(socket);
    outgoing.once('close', () => {
      answering.delete(socket);
      if (!socket.destroyed) idle.add(socket);
    });
  });
  return {
    isAnswering: (socket) => answering.has(socket),
    endIdle: () => {
      for (const socket of idle) socket.destroy();
    },
  };
}
