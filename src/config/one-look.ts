import { z } from 'zod';

/** To compile schemas is worth it for a service that reads all day, not for a command that looks at one file. */
export function expectOneLook(): void {
  z.config({ jitless: true });
}
