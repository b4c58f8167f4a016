import { z } from 'zod';

/** A column that holds nested plain data as JSON. */
export function jsonColumn<T>(schema: z.ZodType<T>) {
  return z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'not JSON' });
        return z.NEVER;
      }
    })
    .pipe(schema);
}

/** The text of such a column. JSON has no NaN or Infinity and would make null of them. */
export function toJson(value: object): string {
  return JSON.stringify(value, (key, inner: unknown) => {
    if (typeof inner === 'number' && !Number.isFinite(inner)) throw new TypeError(`${key}: ${inner} cannot be stored`);
    return inner;
  });
}

/**
 * The schema of a type of the domain. It compiles only when it names every field and takes every value of it, so that
 * nothing can be stored that could not be loaded again. A field it does not know is kept, not lost.
 */
export function schemaOf<T>() {
  return <F extends Fields<T>>(fields: F & Complete<T, F>): z.ZodType<T> => z.looseObject(fields) as unknown as z.ZodType<T>;
}

type Fields<T> = { readonly [K in keyof Required<T>]: z.ZodType<T[K]> };
type Complete<T, F extends Fields<T>> = { readonly [K in keyof Required<T>]: T[K] extends z.infer<F[K]> ? unknown : never };
