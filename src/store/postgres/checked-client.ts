import { isIP } from 'node:net';
import type { Client, ClientConfig } from 'pg';

/**
 * The client of the driver, which holds the certificate of the server against its address also where that is a number.
 * The driver names only names to Node, which then compares with "localhost".
 */
export async function checkedClient(): Promise<typeof Client> {
  const { default: pg } = await import('pg');
  return class extends pg.Client {
    constructor(config?: string | ClientConfig) {
      super(config);
      const { connection, host } = this as unknown as { connection: { ssl: boolean | object }; host: string };
      if (connection.ssl === false || isIP(host) === 0) return;
      if (connection.ssl === true) connection.ssl = { host };
      else Object.assign(connection.ssl, { host });
    }
  };
}
