export * from './environment.js'
