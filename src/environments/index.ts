export * from './environment.js'
export { createHttpClient, type HttpClientOptions } from './http/client.js'
export type { ConnectionFault } from './http/failure.js'
export { placeOf } from './http/place.js'
