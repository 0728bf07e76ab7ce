export * from './key.js'
export * from './naming.js'
