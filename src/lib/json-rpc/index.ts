export { JsonRpcClosedError, JsonRpcError, JsonRpcTimeoutError, JsonRpcUnreadableError, RPC_CODES } from './errors.ts';
export { createJsonRpcPeer } from './peer.ts';
export type { JsonRpcPeer, JsonRpcPeerOptions } from './peer.ts';
