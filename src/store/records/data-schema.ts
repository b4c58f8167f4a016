import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { isListShape, type DataFields, type DataShape } from '../../domain/model/data-shape.ts';

/** The schema of data that the domain describes as data. A field it does not know is kept, not lost. */
export function dataSchema(shape: DataShape): z.ZodType {
  if (typeof shape === 'string') return PLAIN()[shape];
  return isListShape(shape) ? z.array(dataSchema(shape[0])).readonly() : fieldsSchema(shape);
}

export function fieldsSchema(fields: DataFields, more: z.ZodRawShape = {}): z.ZodType {
  return z.looseObject({
    ...more,
    ...Object.fromEntries(Object.entries(fields).map(([name, shape]) => [name, dataSchema(shape)])),
  });
}

const PLAIN = once((): Readonly<Record<DataShape & string, z.ZodType>> => ({
  text: z.string(),
  'text or absent': z.string().optional(),
  number: z.number(),
  'number or null': z.number().nullable(),
  'number or absent': z.number().optional(),
  flag: z.boolean(),
}));
