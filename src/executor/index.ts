export type { ExecutorAuthentication } from './auth/authentication.js'
export type { TokenRules } from './auth/signed-token.js'
export type { ExecutorOptions } from './executor.js'
export { type ServingExecutor, type StdioExecutorOptions, serveExecutorStdio } from './serve-stdio.js'
export {
  serveExecutorWebSocket,
  type WebSocketExecutor,
  type WebSocketExecutorOptions,
} from './serve-websocket.js'
