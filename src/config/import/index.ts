export { CLIENTS, type ClientId, type ClientWorld } from './clients.js'
export { existingServers } from './existing.js'
export { type FoundServer, type FoundServers, findClientServers } from './find.js'
export { entriesOf, type ImportDecision, type ImportOptions, type ImportOutcome, planImport } from './plan.js'
