import type { Fault } from './errors.ts';

/** What an effect brought back: a value or the fault that kept it from coming. */
export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };
