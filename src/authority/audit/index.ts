export type { AuditedCall, AuditedFacts } from './audited-call.js'
export { authorityDigest, type DigestedAuthority } from './digest.js'
export { AuditLog, type AuditLogOptions } from './log.js'
export * from './record.js'
