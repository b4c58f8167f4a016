/** Things to undo, last acquired first. Running it twice undoes once; a failing one does not keep the others. */
export interface Releasers {
  push(release: () => void | Promise<void>): void;
  run(): Promise<void>;
}

export function createReleasers(onFault: (fault: unknown) => void): Releasers {
  const stack: (() => void | Promise<void>)[] = [];
  return {
    push: (release) => void stack.push(release),
    async run() {
      for (let release = stack.pop(); release; release = stack.pop()) {
        try {
          await release();
        } catch (fault) {
          onFault(fault);
        }
      }
    },
  };
}

/** Puts something together of parts that are pushed as they are opened. When that fails half way, they are closed again. */
export async function assembled<T>(
  onFault: (fault: unknown) => void,
  assemble: (releasers: Releasers) => Promise<T>,
): Promise<T> {
  const releasers = createReleasers(onFault);
  try {
    return await assemble(releasers);
  } catch (error) {
    await releasers.run();
    throw error;
  }
}
