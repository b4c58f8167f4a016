import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Link {
  /** The address of the database by this way. */
  through(url: string): string;
  cutAfter(bytes: number): void;
  cutAtCommit(): void;
  /** Just after something was sent that has these words. */
  cutAt(words: string): void;
  /** At once, and for whoever comes, until it is healed. */
  cut(): void;
  heal(): void;
  close(): Promise<void>;
}

/** A way to the server that can be cut: at once, after some more bytes, or just after something was asked for. */
export async function openLink(serverPort: number, host = '127.0.0.1'): Promise<Link> {
  const open = new Set<Socket>();
  let budget = Infinity;
  let at: string | null = null;
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const there = connect(serverPort, '127.0.0.1');
    for (const socket of [client, there]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => open.delete(socket));
    }
    client.on('close', () => there.end());
    there.on('close', () => client.destroy());
    client.on('data', (bytes) => {
      there.write(bytes);
      budget -= bytes.length;
      // What was sent arrives, its answer does not.
      if (budget < 0 || (at !== null && bytes.includes(at))) client.destroy();
    });
    there.on('data', (bytes) => client.writable && client.write(bytes));
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    through: (url) => url.replace(`127.0.0.1:${serverPort}/`, `${host}:${port}/`),
    cutAfter: (bytes) => void (budget = bytes),
    cutAtCommit: () => void (at = 'COMMIT'),
    cutAt: (words) => void (at = words),
    cut() {
      isCut = true;
      for (const socket of open) socket.destroy();
    },
    heal() {
      budget = Infinity;
      at = null;
      isCut = false;
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
