import { z } from 'zod';
import type { OperatorPause } from '../../domain/model/operator.ts';
import type { Sqlite } from './sqlite.ts';
import { defineTable } from './table.ts';

const Columns = z.object({ singleton: z.number(), reason: z.string(), asked_by: z.string(), since: z.number() });

const OPERATOR_PAUSE = defineTable({
  name: 'operator_pause',
  key: 'singleton',
  columns: Columns,
  toRow: (pause: OperatorPause) => ({ singleton: 1, reason: pause.reason, asked_by: pause.by, since: pause.since }),
  fromRow: (row): OperatorPause => ({ reason: row.reason, by: row.asked_by, since: row.since }),
});

export function writeOperatorPause(db: Sqlite, pause: OperatorPause | null): void {
  if (pause === null) db.run('DELETE FROM operator_pause');
  else OPERATOR_PAUSE.put(db, pause);
}

export function readOperatorPause(db: Sqlite): OperatorPause | null {
  return OPERATOR_PAUSE.load(db)[0] ?? null;
}
