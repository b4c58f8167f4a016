/** What the system calls a fault, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
