import { storeContract } from '../../../test/contracts/store.ts';
import { createMemoryStore } from '../../../test/support/store/memory.ts';

storeContract('the memory store', async () => {
  const store = createMemoryStore();
  return {
    store,
    // What it holds lives as long as the process: there is nothing to open again.
    reopen: async () => store,
    requestUnpark: async (identifier) => store.requestUnpark(identifier),
    cleanup: () => store.close(),
  };
});
