import type { Provider } from '../ports/provider.ts';
import { fileProvider } from './file/index.ts';

/** Every tracker kind, alphabetical. */
export const PROVIDERS: readonly Provider[] = [fileProvider];
