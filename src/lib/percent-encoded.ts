/**
 * Text as one segment of an address. Half of a surrogate pair, which trackers do send, cannot be encoded: it is replaced
 * as it is wherever text becomes bytes.
 */
export function percentEncoded(text: string | number): string {
  return encodeURIComponent(String(text).replaceAll(/\p{Surrogate}/gu, '\ufffd'));
}
