import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Who is connected, and who waits for an answer. */
export interface Connections {
  isAnswering(socket: Duplex): boolean;
  /** Ends every connection that waits for no answer, also those that never asked for anything (browsers open some ahead). */
  endIdle(): void;
}

export function trackConnections(server: Server): Connections {
  const all = new Set<Duplex>();
  const answering = new Set<Duplex>();
  server.on('connection', (socket) => {
    all.add(socket);
    socket.once('close', () => all.delete(socket));
  });
  server.on('request', (incoming, outgoing) => {
    const { socket } = incoming;
    answering.add(socket);
    outgoing.once('close', () => answering.delete(socket));
  });
  return {
    isAnswering: (socket) => answering.has(socket),
    endIdle: () => {
      for (const socket of all) if (!answering.has(socket)) socket.destroy();
    },
  };
}
