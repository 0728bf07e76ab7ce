export * from './kit/index.js'
