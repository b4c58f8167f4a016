import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { AgentPause } from '../../domain/model/claim.ts';
import { defineTable } from './table.ts';

const Columns = once(() => z.object({ agent_kind: z.string(), until: z.number(), reason: z.string() }));

export const PAUSES = defineTable({
  name: 'pauses',
  key: 'agent_kind',
  columns: Columns,
  toRow: (pause: AgentPause) => ({ agent_kind: pause.agentKind, until: pause.until, reason: pause.reason }),
  fromRow: (row): AgentPause => ({ agentKind: row.agent_kind, until: row.until, reason: row.reason }),
});
