export type * from './inventory.js'
export type * from './types.js'
