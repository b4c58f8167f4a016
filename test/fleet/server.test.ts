import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());

it('keeps what was stored over a stop and over a crash', async () => {
  const url = await postgres.createDatabase();
  await postgres.query('CREATE TABLE kept (n integer); INSERT INTO kept VALUES (1)', url);
  for (const how of ['fast', 'crash'] as const) {
    await postgres.stop(how);
    await postgres.start();
    expect(await postgres.query('SELECT n FROM kept', url)).toEqual([{ n: 1 }]);
  }
});
