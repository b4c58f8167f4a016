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
