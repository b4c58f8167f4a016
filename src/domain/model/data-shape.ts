/** The form of plain data, as data: types, the schema of the store and the variables of a prompt template are made of it. */
export type DataShape =
  | 'text'
  | 'text or absent'
  | 'number'
  | 'number or null'
  | 'number or absent'
  | 'flag'
  /** A list of such. */
  | readonly [DataShape]
  | DataFields;

export interface DataFields {
  readonly [field: string]: DataShape;
}

export function isListShape(shape: DataShape): shape is readonly [DataShape] {
  return Array.isArray(shape);
}

/** What a value of a shape is. */
export type ValueOf<S> = S extends 'text'
  ? string
  : S extends 'number'
    ? number
    : S extends 'number or null'
      ? number | null
      : S extends 'flag'
        ? boolean
        : S extends readonly [infer Item]
          ? readonly ValueOf<Item>[]
          : FieldsOf<S>;

type FieldsOf<S> = { readonly [K in Exclude<keyof S, Absent<S>>]: ValueOf<S[K]> } & {
  readonly [K in Absent<S>]?: S[K] extends 'text or absent' ? string : number;
};
type Absent<S> = { [K in keyof S]: S[K] extends 'text or absent' | 'number or absent' ? K : never }[keyof S];

/** A name of the workflow file or a prompt template, as the code spells it. */
export type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<CamelCase<Rest>>}`
  : Name;

export function camelCase<Name extends string>(name: Name): CamelCase<Name> {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as CamelCase<Name>;
}

/** A name of the code, as a prompt template spells it. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
