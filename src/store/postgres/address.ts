/** The address of a database for people: no user, no password, no parameters. */
export function addressOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'postgres://(not an address)';
  }
}
