import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { MAX_CONNECTIONS, trackConnections } from './connections.ts';

/** A server whose clients come when the test says so. */
function createClients() {
  const server = new EventEmitter();
  trackConnections(server as Server);
  const come = (): PassThrough => {
    const socket = new PassThrough();
    server.emit('connection', socket);
    return socket;
  };
  const ask = (socket: PassThrough): EventEmitter => {
    const outgoing = new EventEmitter();
    server.emit('request', { socket }, outgoing);
    return outgoing;
  };
  return { come, ask };
}

it('one too many takes the place of the one that has been idle longest, and of nobody who waits for an answer', () => {
  const { come, ask } = createClients();
  const sockets = Array.from({ length: MAX_CONNECTIONS }, come);
  const gone = () => sockets.flatMap((socket, index) => (socket.destroyed ? [index] : []));
  const [first, second] = sockets.slice(0, 2).map(ask);
  expect(gone()).toEqual([]);
  come();
  expect(gone()).toEqual([2]);
  // Answered, it is idle since just now.
  first?.emit('close');
  second?.emit('close');
  come();
  expect(gone()).toEqual([2, 3]);
});

it('who leaves makes room', () => {
  const { come } = createClients();
  const sockets = Array.from({ length: MAX_CONNECTIONS }, come);
  sockets.at(-1)?.emit('close');
  come();
  expect(sockets.filter((socket) => socket.destroyed)).toEqual([]);
});
