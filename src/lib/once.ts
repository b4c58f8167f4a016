/** What is costly to make is made when it is first asked for, and then kept. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** The same for what is loaded. A load that failed is tried again for the next who asks. */
export function onceLoaded<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  const forget = (error: unknown): never => {
    loading = null;
    throw error;
  };
  return () => (loading ??= load().catch(forget));
}
