import { storeContract } from '../../../test/contracts/store.ts';
import { openStore } from './open.ts';
import { anOwner, CLOCK, makeFolder } from '../../../test/support/store/database.ts';

storeContract('the SQLite store', async () => {
  const folder = makeFolder();
  const path = folder.file('.foray.db');
  const open = () => openStore({ path, owner: anOwner(), clock: CLOCK });
  const current = { store: await open() };
  return {
    store: current.store,
    async reopen() {
      await current.store.close();
      return (current.store = await open());
    },
    async cleanup() {
      await current.store.close();
      folder.remove();
    },
  };
});
