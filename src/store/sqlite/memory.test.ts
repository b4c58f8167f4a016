import { storeContract } from '../../../test/contracts/store.ts';
import { createMemoryStore } from '../../../test/support/store/memory.ts';

storeContract('the memory store', async () => {
  const store = createMemoryStore();
  return {
    store,
    // What it holds lives as long as the process: there is nothing to open again.
    async reopen() {
      await store.close();
      return store;
    },
    cleanup: () => store.close(),
  };
});
