/** A usable address, or what is wrong with it in words that hold no credential. */
export type ParsedEndpoint =
  | {
      /** As written, trailing slashes trimmed. May hold a user and password: for requests only. */
      readonly url: string;
      /** The same without user and password: for messages, logs and links. */
      readonly shown: string;
      readonly secure: boolean;
    }
  | { readonly fault: string };

/**
 * The one reading of an endpoint, for constructors and offline checks alike: an absolute http(s) URL with a host, without
 * query or fragment. Stricter than `new URL`, which repairs `https:host`, `https:///host` and backslashes.
 */
export function parseEndpoint(value: string): ParsedEndpoint {
  const fault = faultOf(value);
  if (fault) return { fault: `"${withoutAnythingSecret(value)}" ${fault}` };
  const url = value.replace(/\/+$/, '');
  return { url, shown: withoutUser(url), secure: /^https:/i.test(url) };
}

/** What is wrong with an address, or undefined. */
export function endpointFault(value: string): string | undefined {
  const parsed = parseEndpoint(value);
  return 'fault' in parsed ? parsed.fault : undefined;
}

/** Appends an API suffix such as `/api/v4`, unless the address ends in it already. */
export function withSuffix(url: string, suffix: string): string {
  return url.endsWith(suffix) ? url : url + suffix;
}

function faultOf(value: string): string | undefined {
  // oxlint-disable-next-line no-control-regex
  if (/[\s\u0000-\u001f\u007f\\]/.test(value)) return 'holds white space, a control character or a backslash';
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(value) ?? [];
  if (authority === undefined) return 'is not an absolute http or https URL';
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host === '') return 'has no host';
  if (host.startsWith(':') && !host.slice(1).includes(':')) return 'has a port but no host';
  if (!host.startsWith('[') && host.split(':').length > 2) return 'has a bare IPv6 host, write it in brackets: [::1]';
  if (value.includes('?')) return 'has a query';
  if (value.includes('#')) return 'has a fragment';
  return URL.canParse(value) ? undefined : 'is not a valid URL';
}

// In a good address an @ of the path is kept.
function withoutUser(url: string): string {
  return url.replace(/\/\/[^/?#]*@/, '//');
}

// In a bad one everything up to the last @ goes, since a password with / ? or # in it may be the very fault.
function withoutAnythingSecret(value: string): string {
  return value.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1');
}
