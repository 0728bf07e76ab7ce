export * from './oauth/index.js'
