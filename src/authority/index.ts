export * from './sandbox/index.js'
export type * from './types.js'
