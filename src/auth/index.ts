export * from './first-party.js'
export * from './oauth/index.js'
