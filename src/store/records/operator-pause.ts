import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { OperatorPause } from '../../domain/model/operator.ts';
import { defineTable } from './table.ts';
import { run, type Work } from './work.ts';

const Columns = once(() => z.object({ singleton: z.number(), reason: z.string(), asked_by: z.string(), since: z.number() }));

const OPERATOR_PAUSE = defineTable({
  name: 'operator_pause',
  key: 'singleton',
  columns: Columns,
  toRow: (pause: OperatorPause) => ({ singleton: 1, reason: pause.reason, asked_by: pause.by, since: pause.since }),
  fromRow: (row): OperatorPause => ({ reason: row.reason, by: row.asked_by, since: row.since }),
});

export function writeOperatorPause(pause: OperatorPause | null): Work<void> {
  return pause === null ? run('DELETE FROM operator_pause') : OPERATOR_PAUSE.put(pause);
}

export function* readOperatorPause(): Work<OperatorPause | null> {
  return (yield* OPERATOR_PAUSE.load())[0] ?? null;
}
