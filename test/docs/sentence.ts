/** A promise, and the test that shows it. */
export interface Sentence {
  readonly says: string;
  readonly file: string;
  /** The title of the test, as it is written there. */
  readonly test: string;
}
