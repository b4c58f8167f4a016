import type { EventEmitter } from 'node:events';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Client, ClientConfig } from 'pg';

/** What the driver does not tell of its connection. */
interface DriverConnection extends EventEmitter {
  ssl: boolean | object;
  readonly stream: Duplex;
}

/**
 * The client of the driver, with two things mended. It holds the certificate of the server against its address also where
 * that is a number: the driver names only names to Node, which then compares with "localhost". And a connection that fails
 * half way, such as for want of a password, is closed: the driver leaves it to the server, which waits a minute for more.
 */
export async function checkedClient(): Promise<typeof Client> {
  const { default: pg } = await import('pg');
  return class extends pg.Client {
    constructor(config?: string | ClientConfig) {
      super(config);
      const { connection, host } = this as unknown as { connection: DriverConnection; host: string };
      connection.on('error', () => connection.stream.destroy());
      if (connection.ssl === false || isIP(host) === 0) return;
      if (connection.ssl === true) connection.ssl = { host };
      else Object.assign(connection.ssl, { host });
    }
  };
}
