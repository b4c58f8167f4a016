/** The address of a database for people: no user, no password, no parameters. */
export function addressOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'postgres://(not an address)';
  }
}

/**
 * The address as the driver takes it. It checks the certificate for each of these modes as for verify-full, and would say so
 * at length on standard error.
 */
export function driverAddress(url: string): string {
  if (/[?&]uselibpqcompat=true\b/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}
