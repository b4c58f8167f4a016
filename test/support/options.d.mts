import type { parseArgs, ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

/** The options of one of the project's own commands. What cannot be understood ends it, with the reason and how to call it. */
export function readOptions<const T extends Options>(
  usage: string,
  options: T,
): {
  readonly values: ReturnType<typeof parseArgs<{ options: T }>>['values'];
  /** The whole number that an option has to be, from 1 where nothing else is said. */
  readonly count: (name: keyof T & string, least?: number) => number;
  readonly refuse: (why: string) => never;
};
