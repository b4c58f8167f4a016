import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { LASTING, type Told } from '../../domain/model/notification.ts';
import { defineTable } from './table.ts';

const Columns = once(() => z.object({ subject: z.enum(LASTING), what: z.string() }));

export const TOLD = defineTable({
  name: 'told',
  key: 'subject',
  columns: Columns,
  toRow: (told: Told) => ({ subject: told.subject, what: told.what }),
  fromRow: (row): Told => ({ subject: row.subject, what: row.what }),
});
