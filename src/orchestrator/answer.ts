import { faultOf, type Answer } from '../domain/model/fault.ts';

/** What came of it, as data. */
export async function answer<T>(promise: Promise<T>): Promise<Answer<T>> {
  try {
    return { ok: true, value: await promise };
  } catch (error) {
    return { ok: false, fault: faultOf(error) };
  }
}
