export * from './command/index.js'
export * from './kit/index.js'
