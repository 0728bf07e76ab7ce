/** Limits on what a peer may make us hold. Bytes unless a name says otherwise. Source: reference README, constants. */
export const LIMITS = {
  /** One stdio line. The reference has no limit in the older eras; we take twice its modern one. */
  stdioLine: 16 * 1024 * 1024,
  stderrLine: 1024 * 1024,
  /** One HTTP JSON body, or one SSE event. */
  httpMessage: 16 * 1024 * 1024,
  /** One POST body that the gateway accepts from a client. */
  inboundBody: 8 * 1024 * 1024,
  errorPreview: 8192,
  rpcErrorBody: 1024 * 1024,
  listPages: 100,
  listItems: 2048,
  /** Of the hosted apps' own list of tools. */
  appsListItems: 8192,
  cursor: 64 * 1024,
} as const
