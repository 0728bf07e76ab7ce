export * from './limits.js'
export * from './message.js'
export * from './transport.js'
